import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { userFacts_query$data, userFacts_query$key } from '../../generated/userFacts_query.graphql.ts'
import type { userFacts_user$key } from '../../generated/userFacts_user.graphql.ts'
import type { userFactsRolesMutation } from '../../generated/userFactsRolesMutation.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { Time } from '../../parts/time.tsx'
import { useLacks } from '../../shell/viewer-scopes.ts'

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
  query: queryKey,
  mayChange,
}: {
  user: userFacts_user$key
  query: userFacts_query$key
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
  const { roles } = useFragment(
    graphql`
      fragment userFacts_query on Query {
        roles {
          role
          scopes {
            scope
            description
          }
        }
      }
    `,
    queryKey,
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
          {mayChange && roles && (
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
      {isOpen && roles && (
        <RolesDialog userId={user.id} held={user.roles} roles={roles} onClose={() => setIsOpen(false)} />
      )}
    </div>
  )
}

type Definitions = NonNullable<userFacts_query$data['roles']>
type Role = Definitions[number]['role']

function RolesDialog({
  userId,
  held,
  roles,
  onClose,
}: {
  userId: string
  held: readonly Role[]
  roles: Definitions
  onClose: () => void
}) {
  const [chosen, setChosen] = useState(held)
  const lacksScope = useLacks()
  const save = useProblemMutation<userFactsRolesMutation>(graphql`
    mutation userFactsRolesMutation($input: SetUserRolesInput!) {
      setUserRoles(input: $input) {
        ... on SetUserRolesPayload {
          user {
            id
            roles
          }
        }
        ... on UserError {
          message
        }
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
        {roles.map(({ role, scopes }) => (
          <CheckField
            key={role}
            label={role.toLowerCase()}
            hint={
              lacksScope(scopes)
                ? 'Permits more than you may.'
                : `May ${scopes.map(({ description }) => description).join('; ')}.`
            }
            checked={chosen.includes(role)}
            disabled={lacksScope(scopes)}
            onChange={(isOn) =>
              setChosen((former) => (isOn ? [...former, role] : former.filter((other) => other !== role)))
            }
          />
        ))}
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
