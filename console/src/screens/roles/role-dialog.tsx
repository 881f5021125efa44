import { type FormEvent, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { roleDialogCreateMutation } from '../../generated/roleDialogCreateMutation.graphql.ts'
import type { roleDialogUpdateMutation } from '../../generated/roleDialogUpdateMutation.graphql.ts'
import type { rolesScreenQuery } from '../../generated/rolesScreenQuery.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, Field, ProblemText, readText, toggleChoice } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useLacks } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'

export type DefinedRole = NonNullable<rolesScreenQuery['response']['managementRoles']>['nodes'][number]
export type PermittedScope = NonNullable<rolesScreenQuery['response']['roles']>[number]['scopes'][number]

/** Defines a management role, or changes one: its description and its scopes. */
export function RoleDialog({
  defined,
  scopes,
  onClose,
}: {
  defined: DefinedRole | null
  /** All scopes of the tenant. */
  scopes: readonly PermittedScope[]
  onClose: () => void
}) {
  const [chosen, setChosen] = useState<readonly string[]>(defined?.scopes ?? [])
  const lacksScope = useLacks()
  const create = useProblemMutation<roleDialogCreateMutation>(graphql`
    mutation roleDialogCreateMutation($input: CreateManagementRoleInput!) {
      createManagementRole(input: $input) {
        ... on CreateManagementRolePayload {
          managementRole {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const update = useProblemMutation<roleDialogUpdateMutation>(graphql`
    mutation roleDialogUpdateMutation($input: UpdateManagementRoleInput!) {
      updateManagementRole(input: $input) {
        ... on UpdateManagementRolePayload {
          managementRole {
            id
            description
            scopes
            updatedAt
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { problem, isRunning } = defined ? update : create
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const given = { description: readText(form, 'description') || null, scopes: chosen }
    const done = () => {
      onClose()
      notify(t('The role is saved.'))
    }
    if (defined)
      update.run(
        { input: { managementRoleId: defined.id, expectedUpdatedAt: defined.updatedAt, ...given } },
        done,
      )
    else create.run({ input: { name: readText(form, 'name'), ...given } }, done)
  }
  return (
    <Dialog
      title={defined ? t('Change {name}', { name: defined.name }) : t('New management role')}
      onClose={onClose}
    >
      <form onSubmit={submit} noValidate>
        {!defined && (
          <Field
            label={t('Name')}
            name="name"
            hint={t('Lower-case letters, digits, - and _. It cannot be changed later.')}
            problem={problem}
          >
            {(props) => <input {...props} autoComplete="off" spellCheck={false} />}
          </Field>
        )}
        <Field label={t('Description')} name="description" problem={problem}>
          {(props) => <input {...props} autoComplete="off" defaultValue={defined?.description ?? ''} />}
        </Field>
        <fieldset className="plain choices">
          <legend>{t('It permits to')}</legend>
          {scopes.map(({ scope, description }) => (
            <CheckField
              key={scope}
              label={description}
              hint={lacksScope([{ scope }]) ? t('Permits more than you may.') : scope}
              checked={chosen.includes(scope)}
              disabled={lacksScope([{ scope }])}
              onChange={(isOn) => setChosen(toggleChoice(chosen, scope, isOn))}
            />
          ))}
        </fieldset>
        <ProblemText problem={problem} shown={['name', 'description']} />
        <div className="actions">
          <button type="submit" className="button" disabled={isRunning || chosen.length === 0}>
            {defined ? t('Save') : t('Create role')}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
