import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { roleChoice_query$key } from '../../generated/roleChoice_query.graphql.ts'
import type { userFacts_user$key } from '../../generated/userFacts_user.graphql.ts'
import type { userFactsRolesMutation } from '../../generated/userFactsRolesMutation.graphql.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { Time } from '../../parts/time.tsx'
import { language, t } from '../../words/words.ts'
import { RoleChoice } from '../roles/role-choice.tsx'

const clock = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })

function Proven({ address, isVerified }: { address: string | null | undefined; isVerified: boolean }) {
  if (!address) return <span className="none">{t('none')}</span>
  return (
    <>
      {address}{' '}
      <span className={`badge ${isVerified ? 'calm' : 'warning'}`}>
        {isVerified ? t('verified') : t('not verified')}
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
      ? [
          user.lockedAt
            ? t('Locked since {time}.', { time: clock.format(new Date(user.lockedAt)) })
            : t('Locked.'),
        ]
      : []),
    ...(user.signInLimits ?? []).flatMap(({ channel, codesAgainAt, longCodesUntil }) => {
      const way = channel === 'SMS' ? t('text message') : t('email')
      return [
        ...(codesAgainAt
          ? [
              t('Too many codes were requested: by {way} they are sent again at {codesAgainAt}.', {
                way,
                codesAgainAt: clock.format(new Date(codesAgainAt)),
              }),
            ]
          : []),
        ...(longCodesUntil
          ? [
              t('After wrong guesses, codes by {way} have ten digits until {longCodesUntil}.', {
                way,
                longCodesUntil: clock.format(new Date(longCodesUntil)),
              }),
            ]
          : []),
      ]
    }),
  ]
  return (
    <div>
      {user.deletion && (
        <section className="card">
          <h2>{t('Asked to be deleted')}</h2>
          <p>
            {t('On {requestedAt}. The user is deleted on {dueAt}, and can cancel it until then.', {
              requestedAt: clock.format(new Date(user.deletion.requestedAt)),
              dueAt: clock.format(new Date(user.deletion.dueAt)),
            })}
          </p>
        </section>
      )}
      {obstacles.length > 0 && (
        <section className="problem">
          <h2>{t('Signing in')}</h2>
          <ul>
            {obstacles.map((obstacle) => (
              <li key={obstacle}>{obstacle}</li>
            ))}
          </ul>
        </section>
      )}
      <dl className="facts card">
        <dt>{t('Email')}</dt>
        <dd>
          <Proven address={user.email} isVerified={user.emailVerified} />
        </dd>
        <dt>{t('Phone')}</dt>
        <dd>
          <Proven address={user.phoneNumber} isVerified={user.phoneNumberVerified} />
        </dd>
        <dt>{t('Roles')}</dt>
        <dd>
          {user.roles.length > 0 ? user.roles.join(', ') : <span className="none">{t('none')}</span>}
          {mayChange && (
            <button type="button" className="link" onClick={() => setIsOpen(true)}>
              {t('Change roles')}
            </button>
          )}
        </dd>
        <dt>{t('Language')}</dt>
        <dd>{user.locale ?? <span className="none">{t('unknown')}</span>}</dd>
        <dt>{t('Time zone')}</dt>
        <dd>{user.zoneinfo ?? <span className="none">{t('unknown')}</span>}</dd>
        {user.externalId && (
          <>
            <dt>{t('External id')}</dt>
            <dd>{user.externalId}</dd>
          </>
        )}
        {user.termsAcceptedAt && (
          <>
            <dt>{t('Terms')}</dt>
            <dd>
              {user.termsVersion} <Time at={user.termsAcceptedAt} />
            </dd>
          </>
        )}
        <dt>{t('Last seen')}</dt>
        <dd>
          <Time at={user.lastSeenAt} />
        </dd>
        <dt>{t('Created')}</dt>
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
  held: readonly string[]
  query: roleChoice_query$key
  onClose: () => void
}) {
  const [chosen, setChosen] = useState<readonly string[]>(held)
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
    <Dialog title={t('Change roles')} onClose={onClose}>
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
            {t('Save roles')}
          </button>
          <button type="button" className="button quiet" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
