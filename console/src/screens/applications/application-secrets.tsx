import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { applicationSecretsMutation } from '../../generated/applicationSecretsMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { OverlapField, STANDARD_OVERLAP_SECONDS } from '../../parts/overlap-field.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { language, t } from '../../words/words.ts'
import { NewSecret } from './new-secret.tsx'

const absolute = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })

type Rotated = { secret: string; previousSecretExpiresAt: string | null }

/** The secret of an application, which is replaced while the former one still works. */
export function ApplicationSecrets({ clientId, name }: { clientId: string; name: string }) {
  const mayWrite = useMay('clients:write')
  const [overlapSeconds, setOverlapSeconds] = useState(STANDARD_OVERLAP_SECONDS)
  const [rotated, setRotated] = useState<Rotated | null>(null)
  const rotate = useProblemMutation<applicationSecretsMutation>(graphql`
    mutation applicationSecretsMutation($clientId: ID!, $overlapSeconds: Int) {
      rotateClientSecret(input: { clientId: $clientId, overlapSeconds: $overlapSeconds }) {
        ... on RotateClientSecretPayload {
          secret
          previousSecretExpiresAt
          client {
            id
            updatedAt
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (rotated)
    return (
      <NewSecret secret={rotated.secret} onStored={() => setRotated(null)}>
        {rotated.previousSecretExpiresAt
          ? t('The previous secret works until {previousSecretExpiresAt}.', {
              previousSecretExpiresAt: absolute.format(new Date(rotated.previousSecretExpiresAt)),
            })
          : t('No other secret works.')}
      </NewSecret>
    )
  return (
    <section className="card form">
      <h2>{t('Secret')}</h2>
      <p>
        {t(
          'The server has a hash of the secret and cannot show it. A new one is shown once; the present one works for a while, so that no server of the application fails meanwhile. At most two are valid.',
        )}
      </p>
      {mayWrite && (
        <div className="actions">
          <ConfirmedButton
            label={t('Rotate the secret')}
            isDestructive={false}
            title={t('Rotate the secret of {name}', { name })}
            consequence={
              <OverlapField
                label={t('The present secret works for')}
                value={overlapSeconds}
                onChange={setOverlapSeconds}
              />
            }
            isRunning={rotate.isRunning}
            problem={rotate.problem}
            onConfirm={(close) =>
              rotate.run({ clientId, overlapSeconds }, ({ rotateClientSecret: result }) => {
                close()
                if (result?.secret)
                  setRotated({
                    secret: result.secret,
                    previousSecretExpiresAt: result.previousSecretExpiresAt ?? null,
                  })
              })
            }
          />
        </div>
      )}
    </section>
  )
}
