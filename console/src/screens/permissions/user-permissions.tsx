import './permissions.css'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type {
  userPermissions_user$data,
  userPermissions_user$key,
} from '../../generated/userPermissions_user.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { HeldRoles } from './held-roles.tsx'
import { PermissionWays } from './permission-ways.tsx'

type Permission = NonNullable<userPermissions_user$data['permissions']>[number]

/** Changes of roles and groups that change what users may do, and are no events of a user. */
const CHANGES = [
  'API_UPDATED',
  'API_DELETED',
  'APP_ROLE_UPDATED',
  'APP_ROLE_DELETED',
  'GROUP_UPDATED',
  'GROUP_DELETED',
  'GROUP_APP_ROLES_CHANGED',
] as const

/** What a user may do at the APIs of the tenant: roles, groups, and each permission with how the user gets it. */
export function UserPermissions({
  user: key,
  organizationId,
  after,
  onChange,
}: {
  user: userPermissions_user$key
  /** The organization in which it is asked. */
  organizationId: string | undefined
  after: string | null | undefined
  onChange: () => void
}) {
  const user = useFragment(
    graphql`
      fragment userPermissions_user on User
      @argumentDefinitions(organizationId: { type: "ID" }) {
        id
        name
        email
        locked
        appRoles {
          id
          name
        }
        groups {
          id
          name
          organization {
            id
            name
          }
        }
        memberships(first: 100) {
          nodes {
            id
            organization {
              id
              name
            }
            appRoles {
              id
              name
            }
          }
        }
        permissions(organizationId: $organizationId) {
          api
          name
        }
      }
    `,
    key,
  )
  const mayFollow = useMay('events:read')
  const name = user.name ?? user.email ?? user.id
  if (!user.appRoles || !user.groups) return <p className="empty">{t('You may not read roles at APIs.')}</p>
  const memberships = user.memberships?.nodes ?? []
  return (
    <div className="columns">
      {mayFollow && <LiveChanges types={CHANGES} after={after} onChange={onChange} />}
      <div>
        <section className="card">
          <h2>{t('Roles at APIs')}</h2>
          <HeldRoles
            kind="user"
            id={user.id}
            name={name}
            holder="USER"
            held={user.appRoles}
            onChange={onChange}
          />
          {memberships.map(
            ({ id, organization, appRoles }) =>
              organization && (
                <div key={id}>
                  <h3>{t('In {organization}', { organization: organization.name })}</h3>
                  <HeldRoles
                    kind="membership"
                    id={id}
                    name={t('{name} in {organization}', { name, organization: organization.name })}
                    holder="MEMBER"
                    held={appRoles ?? []}
                    onChange={onChange}
                  />
                </div>
              ),
          )}
        </section>
        <section className="card">
          <h2>{t('Groups')}</h2>
          {user.groups.length === 0 && <p className="empty">{t('The user is in no group.')}</p>}
          <ul className="sessions">
            {user.groups.map((group) => (
              <li key={group.id}>
                <div>
                  <Link to="/groups/$groupId" params={{ groupId: group.id }}>
                    {group.name}
                  </Link>
                  {group.organization && <span>{group.organization.name}</span>}
                </div>
              </li>
            ))}
          </ul>
        </section>
      </div>
      <div>
        <section className="card">
          <h2>{t('Permissions')}</h2>
          {memberships.length > 0 && (
            <OrganizationChoice
              userId={user.id}
              organizationId={organizationId}
              organizations={memberships.flatMap(({ organization }) => organization ?? [])}
            />
          )}
          {user.locked && <p className="hint">{t('The user is locked, and can use none of them.')}</p>}
          <PermissionList
            userId={user.id}
            organizationId={organizationId ?? null}
            permissions={user.permissions ?? []}
          />
        </section>
      </div>
    </div>
  )
}

function OrganizationChoice({
  userId,
  organizationId,
  organizations,
}: {
  userId: string
  organizationId: string | undefined
  organizations: readonly { readonly id: string; readonly name: string }[]
}) {
  const navigate = useNavigate()
  return (
    <label className="field">
      {t('Asked in')}
      <select
        value={organizationId ?? ''}
        onChange={({ target }) =>
          void navigate({
            to: '/users/$userId',
            params: { userId },
            search: { tab: 'permissions', organization: target.value || undefined },
          })
        }
      >
        <option value="">{t('the tenant')}</option>
        {organizations.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Permissions by API. */
function PermissionList({
  userId,
  organizationId,
  permissions,
}: {
  userId: string
  organizationId: string | null
  permissions: readonly Permission[]
}) {
  const [asked, setAsked] = useState<string | null>(null)
  if (permissions.length === 0) return <p className="empty">{t('The user may do nothing at the APIs.')}</p>
  const apis = [...new Set(permissions.map(({ api }) => api))]
  return apis.map((api) => (
    <section key={api} aria-label={api}>
      <h3>{api}</h3>
      <ul className="sessions permitted">
        {permissions
          .filter((permission) => permission.api === api)
          .map(({ name }) => {
            const key = `${api} ${name}`
            return (
              <li key={name}>
                <div>
                  <code>{name}</code>
                </div>
                <button
                  type="button"
                  className="link"
                  aria-expanded={asked === key}
                  aria-label={t('How the user gets {name}', { name })}
                  onClick={() => setAsked(asked === key ? null : key)}
                >
                  {t('How?')}
                </button>
                {asked === key && (
                  <PermissionWays variables={{ userId, api, permission: name, organizationId }} />
                )}
              </li>
            )
          })}
      </ul>
    </section>
  ))
}
