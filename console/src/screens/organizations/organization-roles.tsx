import '../permissions/permissions.css'
import { type FormEvent, useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type {
  organizationRoles_query$data,
  organizationRoles_query$key,
} from '../../generated/organizationRoles_query.graphql.ts'
import type { organizationRolesCreateMutation } from '../../generated/organizationRolesCreateMutation.graphql.ts'
import type { organizationRolesDeleteMutation } from '../../generated/organizationRolesDeleteMutation.graphql.ts'
import type { organizationRolesUpdateMutation } from '../../generated/organizationRolesUpdateMutation.graphql.ts'
import { ConfirmedButton, Dialog } from '../../parts/dialog.tsx'
import { CheckField, Field, ProblemText, readText, toggleChoice } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { t, tCount } from '../../words/words.ts'

type Role = NonNullable<organizationRoles_query$data['appRoles']>['nodes'][number]
type Api = NonNullable<
  NonNullable<organizationRoles_query$data['organization']>['permittedApis']
>['nodes'][number]

/** The own roles of an organization, of permitted permissions; nothing for a viewer who may not read roles. */
export function OrganizationRoles({
  organizationId,
  query,
  mayWrite,
  onChange,
}: {
  organizationId: string
  query: organizationRoles_query$key
  mayWrite: boolean
  onChange: () => void
}) {
  const { organization, appRoles } = useFragment(
    graphql`
      fragment organizationRoles_query on Query
      @argumentDefinitions(organizationId: { type: "ID!" }) {
        organization(id: $organizationId) {
          id
          permittedApis(first: 500) {
            nodes {
              apiId
              name
              permissions {
                name
                description
              }
            }
          }
        }
        appRoles(first: 100, filter: { organizationId: $organizationId }) {
          nodes {
            id
            name
            description
            permissions {
              apiId
              name
            }
            updatedAt
          }
        }
      }
    `,
    query,
  )
  const [edited, setEdited] = useState<Role | 'new' | null>(null)
  const apis = organization?.permittedApis?.nodes
  if (!appRoles || !apis) return null
  return (
    <section className="card">
      <h2>{t('Own roles')}</h2>
      {appRoles.nodes.length === 0 && (
        <p className="empty">
          {t('Roles that this organization alone has. Its members and groups hold them.')}
        </p>
      )}
      <ul className="sessions">
        {appRoles.nodes.map((role) => (
          <li key={role.id}>
            <div>
              <strong>{role.name}</strong>
              <span>{tCount(role.permissions.length, '{count} permission', '{count} permissions')}</span>
            </div>
            {mayWrite && <RoleActions role={role} onEdit={() => setEdited(role)} onChange={onChange} />}
          </li>
        ))}
      </ul>
      {mayWrite && (
        <div className="actions">
          <button type="button" className="button quiet" onClick={() => setEdited('new')}>
            {t('New own role')}
          </button>
        </div>
      )}
      {edited && (
        <RoleDialog
          organizationId={organizationId}
          role={edited === 'new' ? null : edited}
          apis={apis}
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null)
            onChange()
          }}
        />
      )}
    </section>
  )
}

function RoleActions({ role, onEdit, onChange }: { role: Role; onEdit: () => void; onChange: () => void }) {
  const { id: appRoleId, name } = role
  const remove = useProblemMutation<organizationRolesDeleteMutation>(graphql`
    mutation organizationRolesDeleteMutation($appRoleId: ID!) {
      deleteAppRole(input: { appRoleId: $appRoleId }) {
        ... on DeleteAppRolePayload {
          deletedAppRoleId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <>
      <button
        type="button"
        className="button quiet"
        aria-label={t('Change the role {name}', { name })}
        onClick={onEdit}
      >
        {t('Change')}
      </button>
      <ConfirmedButton
        label={t('Delete')}
        title={t('Delete {name}?', { name })}
        consequence={<p>{t('All who hold the role lose it. Nothing brings it back.')}</p>}
        isRunning={remove.isRunning}
        problem={remove.problem}
        onConfirm={(close) =>
          remove.run({ appRoleId }, () => {
            close()
            onChange()
          })
        }
      />
    </>
  )
}

const toKey = (apiId: string, name: string): string => `${apiId} ${name}`

/** Name, description and permissions of a role, which is created when there is none yet. */
function RoleDialog({
  organizationId,
  role,
  apis,
  onClose,
  onSaved,
}: {
  organizationId: string
  role: Role | null
  apis: readonly Api[]
  onClose: () => void
  onSaved: () => void
}) {
  const [chosen, setChosen] = useState<readonly string[]>(
    () => role?.permissions.map(({ apiId, name }) => toKey(apiId, name)) ?? [],
  )
  const create = useProblemMutation<organizationRolesCreateMutation>(graphql`
    mutation organizationRolesCreateMutation($input: CreateAppRoleInput!) {
      createAppRole(input: $input) {
        ... on CreateAppRolePayload {
          appRole {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const update = useProblemMutation<organizationRolesUpdateMutation>(graphql`
    mutation organizationRolesUpdateMutation($input: UpdateAppRoleInput!) {
      updateAppRole(input: $input) {
        ... on UpdateAppRolePayload {
          appRole {
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
    const given = {
      name: readText(form, 'name'),
      description: readText(form, 'description') || null,
      permissions: apis.flatMap(({ apiId, permissions }) =>
        permissions.flatMap(({ name }) => (chosen.includes(toKey(apiId, name)) ? [{ apiId, name }] : [])),
      ),
    }
    if (role)
      update.run({ input: { appRoleId: role.id, expectedUpdatedAt: role.updatedAt, ...given } }, onSaved)
    else create.run({ input: { organizationId, ...given } }, onSaved)
  }
  const problem = create.problem ?? update.problem
  return (
    <Dialog
      title={role ? t('Change the role {name}', { name: role.name }) : t('New own role')}
      onClose={onClose}
    >
      <form onSubmit={submit} noValidate>
        <Field
          label={t('Name')}
          name="name"
          hint={t('As tokens have it, such as order-clerk.')}
          problem={problem}
        >
          {(props) => (
            <input {...props} autoComplete="off" spellCheck={false} defaultValue={role?.name ?? ''} />
          )}
        </Field>
        <Field label={t('Description')} name="description" problem={problem}>
          {(props) => <input {...props} autoComplete="off" defaultValue={role?.description ?? ''} />}
        </Field>
        {apis.length === 0 && <p className="empty">{t('No permission is for organizations yet.')}</p>}
        {apis.map((api) => (
          <fieldset key={api.apiId} className="plain by-api">
            <legend>{api.name}</legend>
            {api.permissions.map(({ name, description }) => {
              const key = toKey(api.apiId, name)
              return (
                <CheckField
                  key={name}
                  label={name}
                  hint={description}
                  checked={chosen.includes(key)}
                  onChange={(isOn) => setChosen(toggleChoice(chosen, key, isOn))}
                />
              )
            })}
          </fieldset>
        ))}
        <ProblemText problem={problem} shown={['name', 'description']} />
        <div className="actions">
          <button type="submit" className="button" disabled={create.isRunning || update.isRunning}>
            {t('Save')}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
