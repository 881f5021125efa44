import '../users/users.css'
import '../applications/applications.css'
import './permissions.css'
import { graphql, useFragment } from 'react-relay/hooks'
import type { apiForm_api$data, apiForm_api$key } from '../../generated/apiForm_api.graphql.ts'
import type { apiFormMutation } from '../../generated/apiFormMutation.graphql.ts'
import { EditedForm } from '../../parts/edited-form.tsx'
import type { Saved } from '../../parts/edits.ts'
import { CheckField, toLines } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { t } from '../../words/words.ts'
import { ClaimRows, toMappings, toRowsText } from '../applications/claim-rows.tsx'
import { ApiPermissions, type PermissionRow, TextField } from './api-permissions.tsx'

/** `permissions` and `claimMappings` are rows as JSON, translations lines such as `de: Laden`. */
type Values = {
  name: string
  identifier: string
  description: string
  translations: string
  tokenExpiryTime: string
  permissionsInTokens: boolean
  groupsInTokens: boolean
  permissions: string
  claimMappings: string
}

const LABELS: Record<keyof Values, string> = {
  name: t('Name'),
  identifier: t('Identifier'),
  description: t('Description'),
  translations: t('Names in other languages'),
  tokenExpiryTime: t('Lifetime of access tokens (seconds)'),
  permissionsInTokens: t('Tokens have the permissions'),
  groupsInTokens: t('Tokens have the groups'),
  permissions: t('Permissions'),
  claimMappings: t('Claims'),
}
const NAMES = Object.keys(LABELS)

type TextName = 'name' | 'identifier' | 'description' | 'translations' | 'tokenExpiryTime'

const toSaved = (api: Omit<apiForm_api$data, ' $fragmentType'>): Saved<Values> => ({
  values: {
    name: api.name,
    identifier: api.identifier,
    description: api.description ?? '',
    translations: api.translations.map(({ locale, name }) => `${locale}: ${name}`).join('\n'),
    tokenExpiryTime: String(api.tokenExpiryTime ?? ''),
    permissionsInTokens: api.permissionsInTokens,
    groupsInTokens: api.groupsInTokens,
    claimMappings: toRowsText(api.claimMappings),
    permissions: JSON.stringify(
      api.permissions.map(
        ({ name, description, translations, isAllowedInOrganizations }): PermissionRow => ({
          name,
          description: description ?? '',
          translations: translations.map(({ locale, description: text }) => `${locale}: ${text}`).join('\n'),
          isAllowedInOrganizations,
        }),
      ),
    ),
  },
  updatedAt: api.updatedAt,
})

const toRows = (permissions: string): PermissionRow[] => JSON.parse(permissions) as PermissionRow[]

/** Lines such as `de: Laden` as the API has them. */
const toTranslations = <Name extends string>(lines: string, member: Name) =>
  toLines(lines).map((line) => {
    const [locale = '', ...text] = line.split(':')
    return { locale: locale.trim(), [member]: text.join(':').trim() } as { locale: string } & Record<
      Name,
      string
    >
  })

const toInput = ({
  translations,
  tokenExpiryTime,
  permissions,
  claimMappings,
  ...plain
}: Partial<Values>) => ({
  ...plain,
  ...(claimMappings !== undefined && { claimMappings: toMappings(claimMappings) }),
  ...(translations !== undefined && { translations: toTranslations(translations, 'name') }),
  ...(tokenExpiryTime !== undefined && {
    tokenExpiryTime: tokenExpiryTime === '' ? null : Number(tokenExpiryTime),
  }),
  ...(permissions !== undefined && {
    permissions: toRows(permissions)
      .filter(({ isRemoved }) => !isRemoved)
      .map(({ name, description, translations: lines, isAllowedInOrganizations }) => ({
        name: name.trim(),
        description: description || null,
        translations: toTranslations(lines, 'description'),
        isAllowedInOrganizations,
      })),
  }),
})

/** The settings and the permissions of an API. */
export function ApiForm({ api: key, mayWrite }: { api: apiForm_api$key; mayWrite: boolean }) {
  const api = useFragment(
    graphql`
      fragment apiForm_api on Api {
        id
        name
        identifier
        description
        translations {
          locale
          name
        }
        tokenExpiryTime
        permissionsInTokens
        groupsInTokens
        claimMappings {
          claim
          source
          path
          value
          scope
          targets
        }
        permissions {
          name
          description
          translations {
            locale
            description
          }
          isAllowedInOrganizations
        }
        updatedAt
      }
    `,
    key,
  )
  const update = useProblemMutation<apiFormMutation>(graphql`
    mutation apiFormMutation($input: UpdateApiInput!) {
      updateApi(input: $input) {
        ... on UpdateApiPayload {
          api {
            ...apiForm_api @relay(mask: false)
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { problem } = update
  return (
    <EditedForm<Values>
      saved={toSaved(api)}
      labels={LABELS}
      isRunning={update.isRunning}
      problem={problem}
      shown={NAMES}
      onSave={(entered, expectedUpdatedAt, settle) =>
        update.run({ input: { apiId: api.id, expectedUpdatedAt, ...toInput(entered) } }, ({ updateApi }) => {
          settle(toSaved(updateApi?.api ?? api))
          notify(t('The API is saved.'))
        })
      }
    >
      {(values, enter) => {
        const text = (name: TextName, hint?: string) => ({
          label: LABELS[name],
          name,
          hint,
          problem,
          value: values[name],
          onEnter: (value: string) => enter({ [name]: value }),
        })
        return (
          <div className="sections">
            <section className="card">
              <h2>{t('Settings')}</h2>
              <fieldset className="settings" disabled={!mayWrite} aria-label={t('Settings')}>
                <TextField {...text('name', t('People see it when they consent.'))} />
                <TextField
                  {...text('identifier', t('Clients send it as resource; tokens have it as aud.'))}
                />
                <TextField {...text('description', t('For administrators.'))} />
                <TextField {...text('translations', t('One a line, such as de: Laden'))} rows={2} />
                <TextField
                  {...text('tokenExpiryTime', t('60 to 86400. That of the client when empty, or shorter.'))}
                  type="number"
                />
                <CheckField
                  label={LABELS.permissionsInTokens}
                  hint={t('Otherwise the API asks by introspection.')}
                  name="permissionsInTokens"
                  problem={problem}
                  checked={values.permissionsInTokens}
                  onChange={(permissionsInTokens) => enter({ permissionsInTokens })}
                />
                <CheckField
                  label={LABELS.groupsInTokens}
                  name="groupsInTokens"
                  problem={problem}
                  checked={values.groupsInTokens}
                  onChange={(groupsInTokens) => enter({ groupsInTokens })}
                />
              </fieldset>
            </section>
            <ApiPermissions
              rows={toRows(values.permissions)}
              mayWrite={mayWrite}
              problem={problem}
              onChange={(rows) => enter({ permissions: JSON.stringify(rows) })}
            />
            <ClaimRows
              rows={values.claimMappings}
              hint={t('Of the access tokens for this API alone, whichever application asks for them.')}
              targets={['ACCESS_TOKEN']}
              mayWrite={mayWrite}
              problem={problem}
              onChange={(claimMappings) => enter({ claimMappings })}
            />
          </div>
        )
      }}
    </EditedForm>
  )
}
