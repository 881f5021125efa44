import { graphql, useFragment } from 'react-relay/hooks'
import type { managedKeys_apiKey$key } from '../../generated/managedKeys_apiKey.graphql.ts'
import type { managedKeysRevokeMutation } from '../../generated/managedKeysRevokeMutation.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'

/** The API keys for the organization; those of the organization itself can be revoked. */
export const ManagedKeys = ({
  apiKeys,
  onChange,
}: {
  apiKeys: readonly (managedKeys_apiKey$key & { readonly id: string })[]
  onChange: () => void
}) =>
  apiKeys.length === 0 ? null : (
    <section className="card">
      <h2>{t('API keys')}</h2>
      <ul className="sessions">
        {apiKeys.map((apiKey) => (
          <KeyRow key={apiKey.id} apiKey={apiKey} onChange={onChange} />
        ))}
      </ul>
    </section>
  )

function KeyRow({ apiKey, onChange }: { apiKey: managedKeys_apiKey$key; onChange: () => void }) {
  const { id, name, start, userId, resources, expiresAt } = useFragment(
    graphql`
      fragment managedKeys_apiKey on ApiKey {
        id
        name
        start
        userId
        resources
        expiresAt
      }
    `,
    apiKey,
  )
  const revoke = useProblemMutation<managedKeysRevokeMutation>(graphql`
    mutation managedKeysRevokeMutation($apiKeyId: ID!) {
      revokeApiKey(input: { apiKeyId: $apiKeyId }) {
        ... on RevokeApiKeyPayload {
          revokedApiKeyId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <li>
      <div>
        <strong>{name}</strong> <code>{start}…</code>
        <span>{resources.join(', ')}</span>
      </div>
      <Time at={expiresAt} />
      {userId === null && (
        <ConfirmedButton
          label={t('Revoke')}
          title={t('Revoke {name}?', { name })}
          consequence={<p>{t('Programs that have the key are rejected at once. Nothing restores it.')}</p>}
          name={name}
          isRunning={revoke.isRunning}
          problem={revoke.problem}
          onConfirm={(close) =>
            revoke.run({ apiKeyId: id }, () => {
              close()
              onChange()
            })
          }
        />
      )}
    </li>
  )
}
