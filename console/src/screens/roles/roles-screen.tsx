import './roles.css'
import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { fetchQuery, graphql, useFragment, useRelayEnvironment } from 'react-relay/hooks'
import { IS_SYSTEM } from '../../config.ts'
import type { rolesScreen_holders$key } from '../../generated/rolesScreen_holders.graphql.ts'
import type { rolesScreenFindQuery } from '../../generated/rolesScreenFindQuery.graphql.ts'
import type { rolesScreenQuery } from '../../generated/rolesScreenQuery.graphql.ts'
import type { Role, rolesScreenSetMutation } from '../../generated/rolesScreenSetMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { Field, ProblemText, readText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { type Problem, toProblem } from '../../parts/result.ts'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useLacks, useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'

type Definition = NonNullable<rolesScreenQuery['response']['roles']>[number]

/** The management roles: what each permits, and who has it. */
export function RolesScreen() {
  const [{ viewer, roles, admins, supporters, auditors, operators }, refresh] =
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
        admins: users(filter: { role: ADMIN }, first: 100) {
          ...rolesScreen_holders
        }
        supporters: users(filter: { role: SUPPORT }, first: 100) {
          ...rolesScreen_holders
        }
        auditors: users(filter: { role: AUDITOR }, first: 100) {
          ...rolesScreen_holders
        }
        operators: users(filter: { role: OPERATOR }, first: 100) @include(if: $isSystem) {
          ...rolesScreen_holders
        }
      }
    `,
      { isSystem: IS_SYSTEM },
    )
  const mayFollow = useMay('events:read')
  const holders: Record<string, rolesScreen_holders$key | null | undefined> = {
    ADMIN: admins,
    SUPPORT: supporters,
    AUDITOR: auditors,
    OPERATOR: operators,
  }
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={['ROLE_CHANGED', 'USER_CREATED', 'USER_DELETED']}
          after={viewer?.eventPosition}
          onChange={refresh}
        />
      )}
      <header className="screen-head">
        <h1>{t('Roles')}</h1>
      </header>
      {roles?.map((definition) => {
        const found = holders[definition.role]
        return (
          found && (
            <RoleCard key={definition.role} definition={definition} holders={found} onChange={refresh} />
          )
        )
      })}
    </section>
  )
}

function RoleCard({
  definition: { role, scopes },
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
  const name = role.toLowerCase()
  const lacksScope = useLacks()
  const mayGive = useMay('users:write') && !lacksScope(scopes)
  const set = useProblemMutation<rolesScreenSetMutation>(graphql`
    mutation rolesScreenSetMutation($userId: ID!, $roles: [Role!]!) {
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
      <details>
        <summary>{t('Permits {count} scopes', { count: scopes.length })}</summary>
        <ul className="permits">
          {scopes.map(({ scope, description }) => (
            <li key={scope}>
              {description} <code>{scope}</code>
            </li>
          ))}
        </ul>
      </details>
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
                    set.run({ userId: user.id, roles: user.roles.filter((other) => other !== role) }, () => {
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
      {mayGive && <GiveRole role={role} onGiven={onChange} />}
    </section>
  )
}

/** Gives a role to the user with an e-mail address. */
function GiveRole({ role, onGiven }: { role: Role; onGiven: () => void }) {
  const environment = useRelayEnvironment()
  const [problem, setProblem] = useState<Problem | null>(null)
  const give = useProblemMutation<rolesScreenSetMutation>(graphql`
    mutation rolesScreenGiveMutation($userId: ID!, $roles: [Role!]!) {
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
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const email = readText(new FormData(form), 'email')
    setProblem(null)
    if (!email) return
    const find = graphql`
      query rolesScreenFindQuery($email: EmailAddress!) {
        userByEmail(email: $email) {
          id
          name
          roles
        }
      }
    `
    fetchQuery<rolesScreenFindQuery>(environment, find, { email })
      .toPromise()
      .then((found) => {
        const user = found?.userByEmail
        if (!user)
          return setProblem(toProblem(new Error(t('No user has this address. Invite the person instead.'))))
        give.run({ userId: user.id, roles: [...new Set([...user.roles, role])] }, () => {
          form.reset()
          notify(t('{name} is {role} now.', { name: user.name ?? email, role: role.toLowerCase() }))
          onGiven()
        })
      })
      .catch((error: Error) => setProblem(toProblem(error)))
  }
  return (
    <form className="give" onSubmit={submit}>
      <Field label={t('Give {role} to the user with the address', { role: role.toLowerCase() })} name="email">
        {(props) => <input {...props} type="email" autoComplete="off" />}
      </Field>
      <button type="submit" className="button quiet" disabled={give.isRunning}>
        {t('Give')}
      </button>
      <ProblemText problem={problem ?? give.problem} />
    </form>
  )
}
