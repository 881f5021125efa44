import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { appRolesScreen_appRoles$key } from '../../generated/appRolesScreen_appRoles.graphql.ts'
import type {
  AppRoleHolder,
  appRolesScreenCreateMutation,
} from '../../generated/appRolesScreenCreateMutation.graphql.ts'
import type { appRolesScreenPageQuery } from '../../generated/appRolesScreenPageQuery.graphql.ts'
import type { appRolesScreenQuery } from '../../generated/appRolesScreenQuery.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, Field, ProblemText, readText, toggleChoice } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { countPage, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { HOLDERS } from './holder-words.ts'

/** The roles at APIs of the tenant, oldest first. Those of the management API have a screen of their own. */
export function AppRolesScreen() {
  const [query, refresh] = useScreenQuery<appRolesScreenQuery>(
    graphql`
      query appRolesScreenQuery($first: Int!) {
        viewer {
          eventPosition
        }
        ...appRolesScreen_appRoles @arguments(first: $first)
      }
    `,
    { first: PAGE_SIZE },
  )
  const { data, loadNext, hasNext, isLoadingNext } = usePaginationFragment<
    appRolesScreenPageQuery,
    appRolesScreen_appRoles$key
  >(
    graphql`
      fragment appRolesScreen_appRoles on Query
      @argumentDefinitions(after: { type: "String" }, first: { type: "Int" })
      @refetchable(queryName: "appRolesScreenPageQuery") {
        appRoles(first: $first, after: $after, filter: { owner: TENANT })
          @connection(key: "appRolesScreen_appRoles") {
          totalSize
          edges {
            node {
              id
              name
              description
              assignableTo
              permissions {
                name
              }
            }
          }
        }
      }
    `,
    query,
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('roles:write')
  const [isOpen, setIsOpen] = useState(false)
  const { appRoles } = data
  if (!appRoles) return <p className="empty">{t('You may not read roles at APIs.')}</p>
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={['APP_ROLE_CREATED', 'APP_ROLE_UPDATED', 'APP_ROLE_DELETED', 'API_UPDATED', 'API_DELETED']}
          after={query.viewer?.eventPosition}
          onChange={() => refresh({ first: countPage(appRoles.edges.length) })}
        />
      )}
      <header className="screen-head">
        <h1>{t('Roles at APIs')}</h1>
        {mayWrite && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('New role')}
          </button>
        )}
      </header>
      <p className="count" role="status">
        {tCount(appRoles.totalSize, '{count} role at APIs', '{count} roles at APIs')}
      </p>
      {appRoles.edges.length === 0 ? (
        <p className="empty">
          {t(
            'There are no roles yet. A role gives permissions of your APIs. What people may do in this console is a role of the management API.',
          )}
        </p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('Name')}</th>
              <th scope="col">{t('Description')}</th>
              <th scope="col">{t('Permissions')}</th>
              <th scope="col">{t('Held by')}</th>
            </tr>
          </thead>
          <tbody>
            {appRoles.edges.map(({ node }) => (
              <tr key={node.id}>
                <th scope="row">
                  <Link to="/app-roles/$appRoleId" params={{ appRoleId: node.id }} className="row-link">
                    <span className="truncated">{node.name}</span>
                  </Link>
                </th>
                <td className="truncated">{node.description}</td>
                <td data-label={t('Permissions')}>{node.permissions.length}</td>
                <td data-label={t('Held by')}>
                  {node.assignableTo.map((holder) => HOLDERS[holder]).join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <MoreRows hasMore={hasNext} isLoading={isLoadingNext} load={() => void loadNext(PAGE_SIZE)} />
      {isOpen && <NewAppRoleDialog onClose={() => setIsOpen(false)} />}
    </section>
  )
}

/** Creates a role, and shows it: its permissions are chosen there. */
function NewAppRoleDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const [holders, setHolders] = useState<readonly AppRoleHolder[]>(['USER'])
  const create = useProblemMutation<appRolesScreenCreateMutation>(graphql`
    mutation appRolesScreenCreateMutation($input: CreateAppRoleInput!) {
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
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const input = {
      name: readText(form, 'name'),
      description: readText(form, 'description') || null,
      assignableTo: holders,
    }
    create.run({ input }, ({ createAppRole }) => {
      onClose()
      if (createAppRole?.appRole)
        void navigate({
          to: '/app-roles/$appRoleId',
          params: { appRoleId: createAppRole.appRole.id },
        })
    })
  }
  return (
    <Dialog title={t('New role at APIs')} onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Field
          label={t('Name')}
          name="name"
          hint={t('As tokens have it, such as order-clerk.')}
          problem={create.problem}
        >
          {(props) => <input {...props} autoComplete="off" spellCheck={false} />}
        </Field>
        <Field label={t('Description')} name="description" problem={create.problem}>
          {(props) => <input {...props} autoComplete="off" />}
        </Field>
        <fieldset className="plain choices">
          <legend>{t('Who may hold it')}</legend>
          {(Object.keys(HOLDERS) as AppRoleHolder[]).map((holder) => (
            <CheckField
              key={holder}
              label={HOLDERS[holder] ?? holder}
              checked={holders.includes(holder)}
              onChange={(isOn) => setHolders(toggleChoice(holders, holder, isOn))}
            />
          ))}
          <p className="hint">{t('It cannot be changed later.')}</p>
        </fieldset>
        <ProblemText problem={create.problem} shown={['name', 'description']} />
        <div className="actions">
          <button type="submit" className="button" disabled={create.isRunning || holders.length === 0}>
            {t('Create role')}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
