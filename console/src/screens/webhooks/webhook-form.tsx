import { type FormEvent, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type {
  EventType,
  webhookFormCreateMutation,
} from '../../generated/webhookFormCreateMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { t } from '../../words/words.ts'

/** The secret of a webhook, which the server shows only once. */
export const ShownSecret = ({ text, onStored }: { text: string; onStored: () => void }) => (
  <div className="form">
    <p>{t('The secret is shown only now. The receiver verifies the signatures with it.')}</p>
    <CopiedText text={text} />
    <div className="actions">
      <button type="button" className="button" onClick={onStored}>
        {t('I have stored it')}
      </button>
    </div>
  </div>
)

/** The types that a person has typed, such as `user.created`. */
export const readTypes = (text: string): EventType[] =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((type) => type.toUpperCase().replaceAll('.', '_') as EventType)

/** Creates a webhook of the tenant, or of an organization. */
export function NewWebhookDialog({
  organizationId,
  onCreated,
  onClose,
}: {
  organizationId?: string
  onCreated: () => void
  onClose: () => void
}) {
  const [secret, setSecret] = useState<string | null>(null)
  const create = useProblemMutation<webhookFormCreateMutation>(graphql`
    mutation webhookFormCreateMutation($input: CreateWebhookInput!) {
      createWebhook(input: $input) {
        ... on CreateWebhookPayload {
          secret
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (create.isRunning) return
    const form = new FormData(event.currentTarget)
    const input = {
      organizationId,
      url: readText(form, 'url'),
      description: readText(form, 'description') || null,
      types: readTypes(readText(form, 'types')),
    }
    create.run({ input }, ({ createWebhook }) => {
      setSecret(createWebhook?.secret ?? null)
      onCreated()
    })
  }
  return (
    <Dialog title={t('New webhook')} isKept={secret !== null} onClose={onClose}>
      {secret !== null ? (
        <ShownSecret text={secret} onStored={onClose} />
      ) : (
        <form onSubmit={submit} noValidate>
          <Field label={t('URL')} name="url" problem={create.problem}>
            {(props) => <input {...props} type="url" autoComplete="off" placeholder="https://" />}
          </Field>
          <Field label={t('Description')} name="description" problem={create.problem}>
            {(props) => <input {...props} maxLength={500} autoComplete="off" />}
          </Field>
          <Field
            label={t('Events')}
            name="types"
            hint={t('Types such as user.created, one a line. Empty for all.')}
            problem={create.problem}
          >
            {(props) => <textarea {...props} rows={3} spellCheck={false} />}
          </Field>
          <ProblemText problem={create.problem} shown={['url', 'description', 'types']} />
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
