import { type FormEvent, useContext, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { newApiKeyMutation } from '../../generated/newApiKeyMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, Field, ProblemText, readLines, readText, toggleChoice } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { type Scope, ViewerScopes } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'

const DAY_SECONDS = 86_400

/** A key, which the server shows only once. */
export const ShownKey = ({ text, onStored }: { text: string; onStored: () => void }) => (
  <div className="form">
    <p>{t('The key is shown only now. The server has a hash of it.')}</p>
    <CopiedText text={text} />
    <div className="actions">
      <button type="button" className="button" onClick={onStored}>
        {t('I have stored it')}
      </button>
    </div>
  </div>
)

/** Creates an API key of a user, of an organization, or of the tenant, with scopes that the viewer has. */
export function NewApiKeyDialog({
  userId,
  organizationId = null,
  onCreated,
  onClose,
}: {
  userId: string | null
  /** A key of an organization has no scopes. */
  organizationId?: string | null
  onCreated: () => void
  onClose: () => void
}) {
  const held = useContext(ViewerScopes)
  const [scopes, setScopes] = useState<readonly Scope[]>([])
  const [key, setKey] = useState<string | null>(null)
  const create = useProblemMutation<newApiKeyMutation>(graphql`
    mutation newApiKeyMutation($input: CreateApiKeyInput!) {
      createApiKey(input: $input) {
        ... on CreateApiKeyPayload {
          key
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const days = readText(form, 'expiresInSeconds')
    const input = {
      userId,
      organizationId,
      name: readText(form, 'name'),
      scopes,
      resources: readLines(form, 'resources'),
      allowedNetworks: readLines(form, 'allowedNetworks'),
      expiresInSeconds: days === '' ? null : Number(days) * DAY_SECONDS,
    }
    create.run({ input }, ({ createApiKey }) => {
      setKey(createApiKey?.key ?? null)
      onCreated()
    })
  }
  return (
    <Dialog title={t('API key')} isKept={key !== null} onClose={onClose}>
      {key !== null ? (
        <ShownKey text={key} onStored={onClose} />
      ) : (
        <form onSubmit={submit} noValidate>
          <Field label={t('Name')} name="name" hint={t('What the key is for.')} problem={create.problem}>
            {(props) => <input {...props} maxLength={200} autoComplete="off" />}
          </Field>
          {organizationId === null && (
            <fieldset className="plain choices">
              <legend>{t('Scopes of the management API')}</legend>
              {[...held].sort().map((scope) => (
                <CheckField
                  key={scope}
                  label={scope}
                  checked={scopes.includes(scope)}
                  onChange={(isOn) => setScopes(toggleChoice(scopes, scope, isOn))}
                />
              ))}
            </fieldset>
          )}
          <Field
            label={t('Other APIs')}
            name="resources"
            hint={
              organizationId === null
                ? t('Identifiers, one a line. A key is for them or for the management API.')
                : t('Identifiers, one a line: the APIs that the key is for.')
            }
            problem={create.problem}
          >
            {(props) => <textarea {...props} rows={2} spellCheck={false} />}
          </Field>
          <Field
            label={t('Networks')}
            name="allowedNetworks"
            hint={t('Addresses or networks such as 203.0.113.0/24, one a line. Empty for any.')}
            problem={create.problem}
          >
            {(props) => <textarea {...props} rows={2} spellCheck={false} />}
          </Field>
          <Field
            label={t('Days until it expires')}
            name="expiresInSeconds"
            hint={t('Empty for as long as the tenant permits.')}
            problem={create.problem}
          >
            {(props) => <input {...props} type="number" min={1} />}
          </Field>
          <ProblemText
            problem={create.problem}
            shown={['name', 'resources', 'allowedNetworks', 'expiresInSeconds']}
          />
          <div className="actions">
            <button type="submit" className="button" disabled={create.isRunning}>
              {t('Create')}
            </button>
            <button type="button" className="button quiet" onClick={onClose}>
              {t('Cancel')}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
