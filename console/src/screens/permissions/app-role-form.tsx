import '../users/users.css'
import '../applications/applications.css'
import './permissions.css'
import { Link } from '@tanstack/react-router'
import { graphql, useFragment } from 'react-relay/hooks'
import type {
  appRoleForm_appRole$data,
  appRoleForm_appRole$key,
} from '../../generated/appRoleForm_appRole.graphql.ts'
import type { appRoleForm_query$key } from '../../generated/appRoleForm_query.graphql.ts'
import type { appRoleFormMutation } from '../../generated/appRoleFormMutation.graphql.ts'
import { EditedForm } from '../../parts/edited-form.tsx'
import type { Saved } from '../../parts/edits.ts'
import { CheckField, Field, toggleChoice, toLines } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { t, tCount } from '../../words/words.ts'

/** `permissions` are lines with the id of the API and the name, sorted. */
type Values = { name: string; description: string; permissions: string }

const LABELS: Record<keyof Values, string> = {
  name: t('Name'),
  description: t('Description'),
  permissions: t('Permissions'),
}

type Permission = { readonly apiId: string; readonly name: string }
const toKey = ({ apiId, name }: Permission): string => `${apiId} ${name}`
const toText = (keys: readonly string[]): string => [...keys].sort().join('\n')

const toSaved = (role: Omit<appRoleForm_appRole$data, ' $fragmentType'>): Saved<Values> => ({
  values: {
    name: role.name,
    description: role.description ?? '',
    permissions: toText(role.permissions.map(toKey)),
  },
  updatedAt: role.updatedAt,
})

/** The words of a role, and its permissions by API. */
export function AppRoleForm({
  appRole: key,
  query,
  mayWrite,
}: {
  appRole: appRoleForm_appRole$key
  query: appRoleForm_query$key
  mayWrite: boolean
}) {
  const role = useFragment(
    graphql`
      fragment appRoleForm_appRole on AppRole {
        id
        name
        description
        organizationId
        permissions {
          apiId
          name
        }
        updatedAt
      }
    `,
    key,
  )
  const { apis } = useFragment(
    graphql`
      fragment appRoleForm_query on Query {
        apis(first: 500) {
          nodes {
            id
            name
            identifier
            permissions {
              name
              description
              isAllowedInOrganizations
            }
          }
        }
      }
    `,
    query,
  )
  const update = useProblemMutation<appRoleFormMutation>(graphql`
    mutation appRoleFormMutation($input: UpdateAppRoleInput!) {
      updateAppRole(input: $input) {
        ... on UpdateAppRolePayload {
          appRole {
            ...appRoleForm_appRole @relay(mask: false)
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { problem } = update
  const isOffered = (permission: { isAllowedInOrganizations: boolean }) =>
    role.organizationId === null || permission.isAllowedInOrganizations
  return (
    <EditedForm<Values>
      saved={toSaved(role)}
      labels={LABELS}
      isRunning={update.isRunning}
      problem={problem}
      shown={['name', 'description']}
      onSave={({ permissions, ...words }, expectedUpdatedAt, settle) => {
        const given = permissions !== undefined && {
          permissions: toLines(permissions).map((line) => {
            const [apiId = '', name = ''] = line.split(' ')
            return { apiId, name }
          }),
        }
        update.run(
          { input: { appRoleId: role.id, expectedUpdatedAt, ...words, ...given } },
          ({ updateAppRole }) => {
            settle(toSaved(updateAppRole?.appRole ?? role))
            notify(t('The role is saved.'))
          },
        )
      }}
    >
      {(values, enter) => {
        const chosen = toLines(values.permissions)
        return (
          <div className="sections">
            <section className="card">
              <fieldset className="settings" disabled={!mayWrite} aria-label={t('Settings')}>
                {(['name', 'description'] as const).map((name) => (
                  <Field
                    key={name}
                    label={LABELS[name]}
                    name={name}
                    {...(name === 'name' && { hint: t('As tokens have it, such as order-clerk.') })}
                    problem={problem}
                  >
                    {(props) => (
                      <input
                        {...props}
                        autoComplete="off"
                        value={values[name]}
                        onChange={({ target }) => enter({ [name]: target.value })}
                      />
                    )}
                  </Field>
                ))}
              </fieldset>
            </section>
            <section className="card">
              <h2>{tCount(chosen.length, '{count} permission', '{count} permissions')}</h2>
              {apis?.nodes.length === 0 && (
                <p className="empty">
                  {t('There are no APIs yet.')} <Link to="/apis">{t('APIs')}</Link>
                </p>
              )}
              {apis?.nodes.map((api) => (
                <fieldset key={api.id} className="plain by-api" disabled={!mayWrite}>
                  <legend>
                    {api.name} <code>{api.identifier}</code>
                  </legend>
                  {api.permissions.length === 0 && <p className="none">{t('none')}</p>}
                  {api.permissions.filter(isOffered).map(({ name, description }) => {
                    const permission = toKey({ apiId: api.id, name })
                    return (
                      <CheckField
                        key={name}
                        label={name}
                        hint={description}
                        checked={chosen.includes(permission)}
                        onChange={(isOn) =>
                          enter({
                            permissions: toText(toggleChoice(chosen, permission, isOn)),
                          })
                        }
                      />
                    )
                  })}
                </fieldset>
              ))}
            </section>
          </div>
        )
      }}
    </EditedForm>
  )
}
