import { graphql, useFragment } from 'react-relay/hooks'
import type { userConsents_user$key } from '../../generated/userConsents_user.graphql.ts'
import type { userConsentsRevokeMutation } from '../../generated/userConsentsRevokeMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'

/** What a user has agreed to share, by application. */
export function UserConsents({
  user: key,
  mayChange,
  onChange,
}: {
  user: userConsents_user$key
  mayChange: boolean
  onChange: () => void
}) {
  const { id, consents } = useFragment(
    graphql`
      fragment userConsents_user on User {
        id
        consents(first: 200) {
          nodes {
            id
            clientId
            clientName
            scopes {
              scope
              words
            }
            claims {
              claim
              words
            }
            resources
            updatedAt
          }
        }
      }
    `,
    key,
  )
  const revoke = useProblemMutation<userConsentsRevokeMutation>(graphql`
    mutation userConsentsRevokeMutation($userId: ID!, $clientId: ID!) {
      revokeUserConsent(input: { userId: $userId, clientId: $clientId }) {
        ... on RevokeUserConsentPayload {
          revokedClientId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!consents) return null
  return (
    <section className="card">
      <h2>{t('Consents')}</h2>
      {consents.nodes.length === 0 && <p className="empty">{t('The user has agreed to share nothing.')}</p>}
      <ul className="sessions">
        {consents.nodes.map(
          ({ id: consentId, clientId, clientName, scopes, claims, resources, updatedAt }) => (
            <li key={consentId}>
              <div>
                <strong>{clientName}</strong>
                <span>
                  {[...scopes, ...claims]
                    .map(({ words }) => words)
                    .concat(resources)
                    .join(' · ')}
                </span>
              </div>
              <Time at={updatedAt} />
              {mayChange && (
                <ConfirmedButton
                  label={t('Revoke')}
                  title={t('Revoke the consent for {clientName}?', { clientName })}
                  consequence={
                    <p>
                      {t(
                        'Its tokens and sessions of this user end. It asks the user again at the next sign-in.',
                      )}
                    </p>
                  }
                  isRunning={revoke.isRunning}
                  problem={revoke.problem}
                  onConfirm={(close) =>
                    revoke.run({ userId: id, clientId }, () => {
                      close()
                      notify(t('The consent for {clientName} is revoked.', { clientName }))
                      onChange()
                    })
                  }
                />
              )}
            </li>
          ),
        )}
      </ul>
    </section>
  )
}
