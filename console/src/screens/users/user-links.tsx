import { graphql, useFragment } from 'react-relay/hooks'
import type { userLinks_user$key } from '../../generated/userLinks_user.graphql.ts'
import type { userLinksUnlinkMutation } from '../../generated/userLinksUnlinkMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tNodes } from '../../words/words.ts'

/** The identities of a user at identity providers. */
export function UserLinks({ user: key, onChange }: { user: userLinks_user$key; onChange: () => void }) {
  const { id, idpUsers } = useFragment(
    graphql`
      fragment userLinks_user on User {
        id
        idpUsers(first: 200) {
          nodes {
            id
            externalId
            idpId
            idp {
              name
            }
            createdAt
            lastLoginAt
          }
        }
      }
    `,
    key,
  )
  const mayUnlink = useMay('idps:write')
  const unlink = useProblemMutation<userLinksUnlinkMutation>(graphql`
    mutation userLinksUnlinkMutation($userId: ID!, $idpId: ID!) {
      unlinkIdpUser(input: { userId: $userId, idpId: $idpId }) {
        ... on UnlinkIdpUserPayload {
          unlinkedIdpUserId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!idpUsers) return null
  return (
    <section className="card">
      <h2>{t('Identity providers')}</h2>
      {idpUsers.nodes.length === 0 && <p className="empty">{t('No identity of a provider is linked.')}</p>}
      <ul className="sessions">
        {idpUsers.nodes.map(({ id: linkId, idpId, idp, externalId, createdAt, lastLoginAt }) => {
          const name = idp?.name ?? idpId
          return (
            <li key={linkId}>
              <div>
                <strong>{name}</strong>
                <span>
                  {externalId} ·{' '}
                  {tNodes('linked {linked} · last proven {proven}', {
                    linked: <Time at={createdAt} />,
                    proven: <Time at={lastLoginAt} />,
                  })}
                </span>
              </div>
              {mayUnlink && (
                <ConfirmedButton
                  label={t('Unlink')}
                  title={t('Unlink {name}?', { name })}
                  consequence={
                    <p>{t('The user cannot sign in there any more, until it is linked again.')}</p>
                  }
                  isRunning={unlink.isRunning}
                  problem={unlink.problem}
                  onConfirm={(close) =>
                    unlink.run({ userId: id, idpId }, () => {
                      close()
                      notify(t('{name} is unlinked.', { name }))
                      onChange()
                    })
                  }
                />
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}
