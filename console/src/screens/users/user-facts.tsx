import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { roleChoice_query$key } from '../../generated/roleChoice_query.graphql.ts'
import type { userFacts_user$key } from '../../generated/userFacts_user.graphql.ts'
import type { Role, userFactsRolesMutation } from '../../generated/userFactsRolesMutation.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { Time } from '../../parts/time.tsx'
import { RoleChoice } from '../roles/role-choice.tsx'

const clock = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

function Proven({ address, isVerified }: { address: string | null | undefined; isVerified: boolean }) {
  if (!address) return <span className="none">none</span>
  return (
    <>
      {address}{' '}
      <span className={`badge ${isVerified ? 'calm' : 'warning'}`}>
        {isVerified ? 'verified' : 'not verified'}
      </span>
    </>
  )
}

/** The most important of a user: addresses, roles, and what keeps the user from signing in now. */
export function UserFacts({
  user: userKey,
  query,
  mayChange,
}: {
  user: userFacts_user$key
  query: roleChoice_query$key
  mayChange: boolean
}) {
  const user = useFragment(
    graphql`
      fragment userFacts_user on User {
        id
        email
        emailVerified
        phoneNumber
        phoneNumberVerified
        locale
        zoneinfo
        roles
        locked
        lockedAt
        deletion {
          requestedAt
          dueAt
        }
        lastSeenAt
        createdAt
        externalId
        termsVersion
        termsAcceptedAt
        signInLimits {
          channel
          codesAgainAt
          longCodesUntil
        }
      }
    `,
    userKey,
  )
  const [isOpen, setIsOpen] = useState(false)
  const obstacles = [
    ...(user.locked
      ? [`Locked${user.lockedAt ? ` since ${clock.format(new Date(user.lockedAt))}` : ''}.`]
      : []),
    ...(user.signInLimits ?? []).flatMap(({ channel, codesAgainAt, longCodesUntil }) => {
      const way = channel === 'SMS' ? 'text message' : 'email'
      return [
        ...(codesAgainAt
          ? [
              `Too many codes were requested: by ${way} they are sent again at ${clock.format(new Date(codesAgainAt))}.`,
            ]
          : []),
        ...(longCodesUntil
          ? [
              `After wrong guesses, codes by ${way} have ten digits until ${clock.format(new Date(longCodesUntil))}.`,
            ]
          : []),
      ]
    }),
  ]
  return (
    <div>
      {user.deletion && (
        <section className="card">
          <h2>Asked to be deleted</h2>
          <p>
            On {clock.format(new Date(user.deletion.requestedAt))}. The user is deleted on{' '}
            {clock.format(new Date(user.deletion.dueAt))}, and can cancel it until then.
          </p>
        </section>
      )}
      {obstacles.length > 0 && (
        <section className="problem">
          <h2>Signing in</h2>
          <ul>
            {obstacles.map((obstacle) => (
              <li key={obstacle}>{obstacle}</li>
            ))}
          </ul>
        </section>
      )}
      <dl className="facts card">
        <dt>Email</dt>
        <dd>
          <Proven address={user.email} isVerified={user.emailVerified} />
        </dd>
        <dt>Phone</dt>
        <dd>
          <Proven address={user.phoneNumber} isVerified={user.phoneNumberVerified} />
        </dd>
        <dt>Roles</dt>
        <dd>
          {user.roles.length > 0 ? user.roles.join(', ').toLowerCase() : <span className="none">none</span>}
          {mayChange && (
            <button type="button" className="link" onClick={() => setIsOpen(true)}>
              Change roles
            </button>
          )}
        </dd>
        <dt>Language</dt>
        <dd>{user.locale ?? <span className="none">unknown</span>}</dd>
        <dt>Time zone</dt>
        <dd>{user.zoneinfo ?? <span className="none">unknown</span>}</dd>
        {user.externalId && (
          <>
            <dt>External id</dt>
            <dd>{user.externalId}</dd>
          </>
        )}
        {user.termsAcceptedAt && (
          <>
            <dt>Terms</dt>
            <dd>
              {user.termsVersion} <Time at={user.termsAcceptedAt} />
            </dd>
          </>
        )}
        <dt>Last seen</dt>
        <dd>
          <Time at={user.lastSeenAt} />
        </dd>
        <dt>Created</dt>
        <dd>
          <Time at={user.createdAt} />
        </dd>
      </dl>
      {isOpen && (
        <RolesDialog userId={user.id} held={user.roles} query={query} onClose={() => setIsOpen(false)} />
      )}
    </div>
  )
}

function RolesDialog({
  userId,
  held,
  query,
  onClose,
}: {
  userId: string
  held: readonly Role[]
  query: roleChoice_query$key
  onClose: () => void
}) {
  const [chosen, setChosen] = useState<readonly Role[]>(held)
  const save = useProblemMutation<userFactsRolesMutation>(graphql`
    mutation userFactsRolesMutation($input: SetUserRolesInput!) {
      setUserRoles(input: $input) {
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
    <Dialog title="Change roles" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.run({ input: { userId, roles: [...chosen] } }, onClose)
        }}
      >
        <RoleChoice query={query} chosen={chosen} hasWords onChange={setChosen} />
        <ProblemText problem={save.problem} />
        <div className="actions">
          <button type="submit" className="button" disabled={save.isRunning}>
            Save roles
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}
