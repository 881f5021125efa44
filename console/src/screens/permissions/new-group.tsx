import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { graphql } from 'react-relay/hooks'
import type { newGroupMutation } from '../../generated/newGroupMutation.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { t } from '../../words/words.ts'

/** Creates a group of the tenant or of an organization, maybe in another one, and shows it. */
export function NewGroupDialog({
  organizationId,
  parentId,
  onClose,
}: {
  organizationId: string | null
  parentId: string | null
  onClose: () => void
}) {
  const navigate = useNavigate()
  const create = useProblemMutation<newGroupMutation>(graphql`
    mutation newGroupMutation($input: CreateGroupInput!) {
      createGroup(input: $input) {
        ... on CreateGroupPayload {
          group {
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
    const input = {
      name: readText(form, 'name'),
      description: readText(form, 'description') || null,
      organizationId,
      parentId,
    }
    create.run({ input }, ({ createGroup }) => {
      onClose()
      if (createGroup?.group)
        void navigate({ to: '/groups/$groupId', params: { groupId: createGroup.group.id } })
    })
  }
  return (
    <Dialog title={t('New group')} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Field label={t('Name')} name="name" problem={create.problem}>
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <Field label={t('Description')} name="description" problem={create.problem}>
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <ProblemText problem={create.problem} shown={['name', 'description']} />
        <div className="actions">
          <button type="submit" className="button" disabled={create.isRunning}>
            {t('Create group')}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
