import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { userCredentials_user$key } from '../../generated/userCredentials_user.graphql.ts'
import type { userCredentialsLinkMutation } from '../../generated/userCredentialsLinkMutation.graphql.ts'
import type { userCredentialsRevokeMutation } from '../../generated/userCredentialsRevokeMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton, Dialog } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tNodes } from '../../words/words.ts'

const TYPES: Record<string, string> = {
  PUBLIC_KEY: t('Passkey'),
  TOTP: t('Authenticator app'),
  RECOVERY_CODES: t('Recovery codes'),
}

/** The passkeys and second factors of a user, and the link by which the user adds a passkey. */
export function UserCredentials({
  user: key,
  mayChange,
  onChange,
}: {
  user: userCredentials_user$key
  mayChange: boolean
  onChange: () => void
}) {
  const { id, credentials } = useFragment(
    graphql`
      fragment userCredentials_user on User {
        id
        credentials(first: 200) {
          nodes {
            id
            type
            name
            createdAt
            lastUsedAt
            device {
              platform
              uaBrand
              model
            }
          }
        }
      }
    `,
    key,
  )
  const mayWrite = useMay('credentials:write') && mayChange
  const [isOpen, setIsOpen] = useState(false)
  const revoke = useProblemMutation<userCredentialsRevokeMutation>(graphql`
    mutation userCredentialsRevokeMutation($credentialId: ID!) {
      revokeCredential(input: { credentialId: $credentialId }) {
        ... on RevokeCredentialPayload {
          revokedCredentialId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!credentials) return null
  return (
    <section className="card">
      <h2>
        {t('Passkeys and second factors')}
        {mayWrite && (
          <button type="button" className="button quiet" onClick={() => setIsOpen(true)}>
            {t('Recovery link')}
          </button>
        )}
      </h2>
      {credentials.nodes.length === 0 && <p className="empty">{t('None. The user signs in by codes.')}</p>}
      <ul className="sessions">
        {credentials.nodes.map(({ id: credentialId, type, name, device, createdAt, lastUsedAt }) => {
          const kind = TYPES[type] ?? type
          const title = name ?? kind
          return (
            <li key={credentialId}>
              <div>
                <strong>{title}</strong>
                <span>
                  {[name && kind, device?.uaBrand, device?.platform, device?.model]
                    .filter(Boolean)
                    .join(' · ')}{' '}
                  ·{' '}
                  {tNodes('added {added} · last used {used}', {
                    added: <Time at={createdAt} />,
                    used: <Time at={lastUsedAt} />,
                  })}
                </span>
              </div>
              {mayWrite && (
                <ConfirmedButton
                  label={t('Revoke')}
                  title={t('Revoke {title}?', { title })}
                  consequence={
                    <p>
                      {t(
                        'The user cannot sign in by it any more, and is told so by mail. It cannot be restored.',
                      )}
                    </p>
                  }
                  isRunning={revoke.isRunning}
                  problem={revoke.problem}
                  onConfirm={(close) =>
                    revoke.run({ credentialId }, () => {
                      close()
                      notify(t('{title} is revoked.', { title }))
                      onChange()
                    })
                  }
                />
              )}
            </li>
          )
        })}
      </ul>
      {isOpen && <RecoveryDialog userId={id} onClose={() => setIsOpen(false)} />}
    </section>
  )
}

function RecoveryDialog({ userId, onClose }: { userId: string; onClose: () => void }) {
  const [link, setLink] = useState<{ uri: string; usableAt: string; isSent: boolean } | null>(null)
  const create = useProblemMutation<userCredentialsLinkMutation>(graphql`
    mutation userCredentialsLinkMutation($userId: ID!, $send: Boolean!) {
      createCredentialEnrollmentToken(input: { userId: $userId, send: $send }) {
        ... on CreateCredentialEnrollmentTokenPayload {
          uri
          usableAt
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const run = (send: boolean) =>
    create.run({ userId, send }, ({ createCredentialEnrollmentToken: created }) => {
      if (created && 'uri' in created && created.uri && created.usableAt)
        setLink({ uri: created.uri, usableAt: created.usableAt, isSent: send })
    })
  return (
    <Dialog title={t('Recovery link')} isKept={link !== null && !link.isSent} onClose={onClose}>
      {link === null ? (
        <div className="form">
          <p>
            {t(
              'By the link the user adds a passkey, for example after the loss of a phone. It works once, for 24 hours. The user is told at every verified address and can cancel it.',
            )}
          </p>
          <ProblemText problem={create.problem} />
          <div className="actions">
            <button type="button" className="button" disabled={create.isRunning} onClick={() => run(true)}>
              {t('Send to the user')}
            </button>
            <button
              type="button"
              className="button quiet"
              disabled={create.isRunning}
              onClick={() => run(false)}
            >
              {t('Show it here')}
            </button>
          </div>
        </div>
      ) : (
        <div className="form" role="status">
          <p>
            {link.isSent
              ? t('The link is sent to the user.')
              : t(
                  'The link is shown only now. A person who has it adds a passkey to this user: hand it over in person.',
                )}
          </p>
          {!link.isSent && <CopiedText text={link.uri} />}
          {Date.parse(link.usableAt) > Date.now() && (
            <p>{tNodes('It works from {time} on.', { time: <Time at={link.usableAt} /> })}</p>
          )}
          <div className="actions">
            <button type="button" className="button" onClick={onClose}>
              {t('Done')}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  )
}
