import './roles.css'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import { IS_SYSTEM } from '../../config.ts'
import type { rolesScreen_holders$key } from '../../generated/rolesScreen_holders.graphql.ts'
import type { rolesScreenQuery } from '../../generated/rolesScreenQuery.graphql.ts'
import type { rolesScreenSetMutation } from '../../generated/rolesScreenSetMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useLacks, useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { DefinedRoleCard } from './defined-role.tsx'
import { GiveRole } from './give-role.tsx'
import { Permits } from './permits.tsx'
import { RoleDialog } from './role-dialog.tsx'

type Definition = NonNullable<rolesScreenQuery['response']['roles']>[number]

/** The management roles: what each permits, and who has it. */
export function RolesScreen() {
  const [{ viewer, roles, managementRoles, admins, supporters, auditors, operators }, refresh] =
    useScreenQuery<rolesScreenQuery>(
      graphql`
      query rolesScreenQuery($isSystem: Boolean!) {
        viewer {
          eventPosition
        }
        roles {
          role
          scopes {
            scope
            description
          }
        }
        managementRoles(first: 100) {
          nodes {
            id
            name
            description
            scopes
            updatedAt
          }
        }
        admins: users(filter: { role: "admin" }, first: 100) {
          ...rolesScreen_holders
        }
        supporters: users(filter: { role: "support" }, first: 100) {
          ...rolesScreen_holders
        }
        auditors: users(filter: { role: "auditor" }, first: 100) {
          ...rolesScreen_holders
        }
        operators: users(filter: { role: "operator" }, first: 100) @include(if: $isSystem) {
          ...rolesScreen_holders
        }
      }
    `,
      { isSystem: IS_SYSTEM },
    )
  const mayFollow = useMay('events:read')
  const mayDefine = useMay('roles:write')
  const [isOpen, setIsOpen] = useState(false)
  const scopes = (roles ?? []).flatMap(({ role, scopes }) =>
    ['admin', 'operator'].includes(role) ? scopes : [],
  )
  const holders: Record<string, rolesScreen_holders$key | null | undefined> = {
    admin: admins,
    support: supporters,
    auditor: auditors,
    operator: operators,
  }
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={[
            'ROLE_CHANGED',
            'USER_CREATED',
            'USER_DELETED',
            'MANAGEMENT_ROLE_CREATED',
            'MANAGEMENT_ROLE_UPDATED',
            'MANAGEMENT_ROLE_DELETED',
          ]}
          after={viewer?.eventPosition}
          onChange={refresh}
        />
      )}
      <header className="screen-head">
        <h1>{t('Roles')}</h1>
        {mayDefine && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('New role')}
          </button>
        )}
      </header>
      {roles?.map((definition) => {
        const found = holders[definition.role]
        return (
          found && (
            <RoleCard key={definition.role} definition={definition} holders={found} onChange={refresh} />
          )
        )
      })}
      {managementRoles?.nodes.map((role) => (
        <DefinedRoleCard key={role.id} role={role} scopes={scopes} onChange={refresh} />
      ))}
      {isOpen && (
        <RoleDialog
          defined={null}
          scopes={scopes}
          onClose={() => {
            setIsOpen(false)
            refresh()
          }}
        />
      )}
    </section>
  )
}

function RoleCard({
  definition: { role: name, scopes },
  holders: key,
  onChange,
}: {
  definition: Definition
  holders: rolesScreen_holders$key
  onChange: () => void
}) {
  const { nodes, totalSize } = useFragment(
    graphql`
      fragment rolesScreen_holders on UserConnection {
        totalSize
        nodes {
          id
          name
          email
          roles
        }
      }
    `,
    key,
  )
  const lacksScope = useLacks()
  const mayGive = useMay('users:write') && !lacksScope(scopes)
  const set = useProblemMutation<rolesScreenSetMutation>(graphql`
    mutation rolesScreenSetMutation($userId: ID!, $roles: [String!]!) {
      setUserRoles(input: { userId: $userId, roles: $roles }) {
        ... on SetUserRolesPayload {
          user {
            id
            roles
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <section className="card role" aria-label={name}>
      <h2>
        {name} <span className="badge">{totalSize}</span>
      </h2>
      <Permits scopes={scopes} />
      {nodes.length === 0 && <p className="empty">{t('Nobody has this role.')}</p>}
      <ul className="sessions">
        {nodes.map((user) => {
          const shown = user.name ?? user.email ?? user.id
          return (
            <li key={user.id}>
              <div>
                <Link to="/users/$userId" params={{ userId: user.id }} className="row-link">
                  {shown}
                </Link>
                <span>{user.email}</span>
              </div>
              {mayGive && (
                <ConfirmedButton
                  label={t('Take')}
                  title={t('Take the role {name} from {shown}?', { name, shown })}
                  consequence={<p>{t('What it permits is rejected from the next call on.')}</p>}
                  isRunning={set.isRunning}
                  problem={set.problem}
                  onConfirm={(close) =>
                    set.run({ userId: user.id, roles: user.roles.filter((other) => other !== name) }, () => {
                      close()
                      notify(t('{shown} is no longer {name}.', { shown, name }))
                      onChange()
                    })
                  }
                />
              )}
            </li>
          )
        })}
      </ul>
      {totalSize > nodes.length && (
        <Link to="/users" search={{ role: name }}>
          {t('All {count} who have it', { count: totalSize })}
        </Link>
      )}
      {mayGive && <GiveRole role={name} onGiven={onChange} />}
    </section>
  )
}
