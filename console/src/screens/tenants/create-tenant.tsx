import type { FormEvent } from 'react'
import { graphql } from 'react-relay/hooks'
import type { createTenantMutation } from '../../generated/createTenantMutation.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { t } from '../../words/words.ts'

/** Creates a tenant, and invites its administrator. */
export function CreateTenant({
  onClose,
  onDone,
}: {
  onClose: () => void
  onDone: (slug: string, administrator: string | undefined) => void
}) {
  const create = useProblemMutation<createTenantMutation>(graphql`
    mutation createTenantMutation($input: CreateTenantInput!) {
      createTenant(input: $input) {
        ... on CreateTenantPayload {
          tenant {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const [slug, friendlyName, email, name] = [
      'slug',
      'settings.friendlyName',
      'administrator.email',
      'administrator.name',
    ].map((field) => readText(form, field) || undefined)
    const administrator = email || name ? { email: email ?? '', name } : undefined
    create.run({ input: { slug: slug ?? '', settings: { friendlyName }, administrator } }, () =>
      onDone(slug ?? '', email),
    )
  }
  return (
    <Dialog title={t('Create a tenant')} onClose={onClose}>
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label={t('Slug')}
          name="slug"
          hint={t('Lower-case letters, digits and hyphens. It is part of its URLs and never changes.')}
          problem={create.problem}
        >
          {(props) => <input {...props} autoComplete="off" autoCapitalize="none" spellCheck={false} />}
        </Field>
        <Field label={t('Name')} name="settings.friendlyName" problem={create.problem}>
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <Field
          label={t('Email address of the administrator')}
          name="administrator.email"
          hint={t('The person gets a mail with a link, and the role admin on acceptance.')}
          problem={create.problem}
        >
          {(props) => <input {...props} type="email" autoComplete="off" />}
        </Field>
        <Field label={t('Name of the administrator')} name="administrator.name" problem={create.problem}>
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <ProblemText problem={create.problem} shown={['slug', 'settings', 'administrator']} />
        <div className="actions">
          <button type="submit" className="button" disabled={create.isRunning}>
            {t('Create')}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
