import { type Dispatch, type FormEvent, type SetStateAction, useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type {
  applicationSettings_client$data,
  applicationSettings_client$key,
} from '../../generated/applicationSettings_client.graphql.ts'
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { addEdits, type Edits, listChanged, type Saved, settleEdits } from '../../parts/edits.ts'
import { CheckField, Field, type InputProps, ProblemText } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import type { Problem } from '../../parts/result.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import {
  type FieldName,
  type FormValue,
  GROUPS,
  isOffered,
  type Setting,
  toFormValue,
  toInputValue,
} from './application-fields.ts'
import { APP_TYPES, type AppType, hasSecret } from './kinds.ts'
import { useUpdateClient } from './update-client.ts'

const SETTINGS = GROUPS.flatMap(({ settings }) => settings)
const LABELS = Object.fromEntries(SETTINGS.map(({ name, label }) => [name, label])) as Record<
  FieldName,
  string
>

/** The settings as the form has them. */
export type ClientForm = Record<FieldName, FormValue>

const toSaved = (client: Omit<applicationSettings_client$data, ' $fragmentType'>): Saved<ClientForm> => ({
  values: Object.fromEntries(
    SETTINGS.map((setting) => [setting.name, toFormValue(setting, client[setting.name])]),
  ) as ClientForm,
  updatedAt: client.updatedAt,
})

/** The settings of an application. `edits` outlive the tab. */
export function ApplicationSettings({
  client: key,
  edits,
  setEdits,
}: {
  client: applicationSettings_client$key
  edits: Edits<ClientForm>
  setEdits: Dispatch<SetStateAction<Edits<ClientForm>>>
}) {
  const client = useFragment(
    graphql`
      fragment applicationSettings_client on Client {
        id
        appType
        updatedAt
        name
        description
        clientUri
        logoUrl
        themeColor
        policyUrl
        termsUrl
        callbacks
        allowedLogoutUrls
        allowedOrigins
        webOrigins
        initiateLoginUrl
        backchannelLogoutUrl
        requireConsent
        requireSecondFactor
        requirePkce
        defaultMaxAge
        tokenExpiryTime
        rotateRefreshTokens
        dpopBoundAccessTokens
        idTokenClaims
        groupsClaim
        idTokenSigningAlg
        userInfoSigningAlg
        scopes
        acceptedDocuments
        resources
        profile
        tokenEndpointAuthMethod
        jwksUri
        jwks
        requirePushedRequests
        requireFapiAlgorithms
        requireIssuerAudience
      }
    `,
    key,
  )
  const mayWrite = useMay('clients:write')
  const [malformed, setMalformed] = useState<Problem | null>(null)
  const update = useUpdateClient()
  const saved = toSaved(client)
  const changed = listChanged(edits, saved)
  const problem = malformed ?? update.problem
  const offered = SETTINGS.filter((setting) => isOffered(setting, client.appType))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!edits || update.isRunning) return
    const fields: Record<string, unknown> = {}
    for (const setting of SETTINGS) {
      const value = edits.values[setting.name]
      if (value === undefined) continue
      try {
        fields[setting.name] = toInputValue(setting, value)
      } catch {
        return setMalformed({
          message: t('The input is not valid.'),
          fields: [{ field: setting.name, description: t('is not valid JSON') }],
        })
      }
    }
    setMalformed(null)
    // A change of something else, such as the secret, is not a conflict.
    const expectedUpdatedAt = changed.length > 0 ? edits.since.updatedAt : client.updatedAt
    update.run({ input: { clientId: client.id, expectedUpdatedAt, ...fields } }, ({ updateClient }) => {
      const answer = updateClient?.client ?? client
      setEdits((former) => settleEdits(former, edits.values, toSaved(answer)))
      notify(t('The settings are saved.'))
    })
  }
  const count = Object.keys(edits?.values ?? {}).length
  return (
    <form onSubmit={submit} noValidate>
      {edits && changed.length > 0 && (
        <ChangedMeanwhile edits={edits} saved={saved} labels={LABELS} setEdits={setEdits} />
      )}
      {GROUPS.map(({ title, settings }) => {
        const shown = settings.filter((setting) => offered.includes(setting))
        return (
          shown.length > 0 && (
            <section key={title} className="card">
              <h2>{title}</h2>
              <fieldset className="settings" disabled={!mayWrite} aria-label={title}>
                {shown.map((setting) => (
                  <SettingInput
                    key={setting.name}
                    setting={setting}
                    value={edits?.values[setting.name] ?? saved.values[setting.name]}
                    problem={problem}
                    onEnter={(value) =>
                      setEdits((former) =>
                        addEdits(former, { [setting.name]: value }, { saved, isSaving: update.isRunning }),
                      )
                    }
                  />
                ))}
              </fieldset>
            </section>
          )
        )
      })}
      {edits && (
        <div className="save-bar">
          <ProblemText problem={problem} shown={offered.map(({ name }) => name)} />
          <div className="actions">
            <button type="submit" className="button" disabled={update.isRunning}>
              {tCount(count, 'Save {count} change', 'Save {count} changes')}
            </button>
            <button type="button" className="button quiet" onClick={() => setEdits(null)}>
              {t('Discard')}
            </button>
          </div>
        </div>
      )}
    </form>
  )
}

function SettingInput({
  setting,
  value,
  problem,
  onEnter,
}: {
  setting: Setting
  value: FormValue
  problem: Problem | null
  onEnter: (value: FormValue) => void
}) {
  const { name, label, hint } = setting
  if (typeof value === 'boolean')
    return (
      <CheckField
        label={label}
        hint={hint}
        name={name}
        problem={problem}
        checked={value}
        onChange={onEnter}
      />
    )
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      {(props) => <TextInput setting={setting} props={props} value={value} onEnter={onEnter} />}
    </Field>
  )
}

const ROWS: Partial<Record<Setting['as'], number>> = { long: 2, lines: 3, scopes: 3, json: 6 }

function TextInput({
  setting,
  props,
  value,
  onEnter,
}: {
  setting: Setting
  props: InputProps
  value: string
  onEnter: (value: string) => void
}) {
  const onChange = ({ target }: { target: { value: string } }) => onEnter(target.value)
  if (setting.as === 'choice')
    return (
      <select {...props} value={value} onChange={onChange}>
        {setting.unset && <option value="">{setting.unset}</option>}
        {Object.entries(setting.choices).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    )
  if (setting.as === 'number')
    return (
      <input {...props} type="number" min={setting.min} max={setting.max} value={value} onChange={onChange} />
    )
  const rows = ROWS[setting.as]
  return rows ? (
    <textarea {...props} rows={rows} spellCheck={setting.as === 'long'} value={value} onChange={onChange} />
  ) : (
    <input {...props} type={setting.as === 'url' ? 'url' : 'text'} value={value} onChange={onChange} />
  )
}

/** Makes the application one of another kind. One that cannot keep a secret loses it, and its tokens. */
export function KindChange({ client }: { client: { id: string; name: string; appType: string } }) {
  const [appType, setAppType] = useState(client.appType)
  const update = useUpdateClient()
  const loses = hasSecret(client.appType) && !hasSecret(appType)
  return (
    <ConfirmedButton
      label={t('Change the kind')}
      title={t('Change the kind of {name}', { name: client.name })}
      {...(loses && { name: client.name })}
      consequence={
        <Field
          label={t('Kind')}
          name="appType"
          hint={
            loses
              ? t('Its secrets are deleted and its tokens are revoked: people must sign in again.')
              : hasSecret(appType) && !hasSecret(client.appType)
                ? t('It has no secret until you create one.')
                : t('Its settings must fit the kind.')
          }
        >
          {(props) => (
            <select {...props} value={appType} onChange={({ target }) => setAppType(target.value)}>
              {Object.entries(APP_TYPES).map(([name, label]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
      }
      isRunning={update.isRunning}
      problem={update.problem}
      onConfirm={(close) =>
        update.run({ input: { clientId: client.id, appType: appType as AppType } }, close)
      }
    />
  )
}
