import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { apiKeyTable_apiKey$key } from '../../generated/apiKeyTable_apiKey.graphql.ts'
import type { apiKeyTableRevokeMutation } from '../../generated/apiKeyTableRevokeMutation.graphql.ts'
import type { apiKeyTableRotateMutation } from '../../generated/apiKeyTableRotateMutation.graphql.ts'
import { ConfirmedButton, Dialog } from '../../parts/dialog.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { OverlapField, STANDARD_OVERLAP_SECONDS } from '../../parts/overlap-field.tsx'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { ShownKey } from './new-api-key.tsx'

/** API keys, without the keys themselves. */
export const ApiKeyTable = ({
  apiKeys,
  onChange,
}: {
  apiKeys: readonly (apiKeyTable_apiKey$key & { readonly id: string })[]
  onChange: () => void
}) => (
  <table className="rows">
    <thead>
      <tr>
        <th scope="col">{t('Name')}</th>
        <th scope="col">{t('Key')}</th>
        <th scope="col">{t('Permits')}</th>
        <th scope="col">{t('Last used')}</th>
        <th scope="col">{t('Expires')}</th>
        <th scope="col" className="row-actions">
          <span className="hidden">{t('Actions')}</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {apiKeys.map((apiKey) => (
        <ApiKeyRow key={apiKey.id} apiKey={apiKey} onChange={onChange} />
      ))}
    </tbody>
  </table>
)

function ApiKeyRow({ apiKey, onChange }: { apiKey: apiKeyTable_apiKey$key; onChange: () => void }) {
  const { id, name, start, scopes, resources, allowedNetworks, lastUsedAt, expiresAt } = useFragment(
    graphql`
      fragment apiKeyTable_apiKey on ApiKey {
        id
        name
        start
        scopes
        resources
        allowedNetworks
        lastUsedAt
        expiresAt
      }
    `,
    apiKey,
  )
  const mayWrite = useMay('api_keys:write')
  const [overlapSeconds, setOverlapSeconds] = useState(STANDARD_OVERLAP_SECONDS)
  const [key, setKey] = useState<string | null>(null)
  const rotate = useProblemMutation<apiKeyTableRotateMutation>(graphql`
    mutation apiKeyTableRotateMutation($apiKeyId: ID!, $overlapSeconds: Int) {
      rotateApiKey(input: { apiKeyId: $apiKeyId, overlapSeconds: $overlapSeconds }) {
        ... on RotateApiKeyPayload {
          key
          apiKey {
            ...apiKeyTable_apiKey
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const revoke = useProblemMutation<apiKeyTableRevokeMutation>(graphql`
    mutation apiKeyTableRevokeMutation($apiKeyId: ID!) {
      revokeApiKey(input: { apiKeyId: $apiKeyId }) {
        ... on RevokeApiKeyPayload {
          revokedApiKeyId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <code>{start}…</code>
      </td>
      <td data-label={t('Permits')}>
        {[...scopes, ...resources].join(', ') || <span className="none">{t('nothing')}</span>}
        {allowedNetworks.length > 0 && (
          <p className="hint">{t('From {networks} only', { networks: allowedNetworks.join(', ') })}</p>
        )}
      </td>
      <td data-label={t('Last used')}>
        {lastUsedAt ? <Time at={lastUsedAt} /> : <span className="none">{t('never')}</span>}
      </td>
      <td data-label={t('Expires')}>
        {Date.parse(expiresAt) < Date.now() ? (
          <span className="badge danger">{t('expired')}</span>
        ) : (
          <Time at={expiresAt} />
        )}
      </td>
      <td>
        {mayWrite && (
          <div className="actions">
            <ConfirmedButton
              label={t('Rotate')}
              isDestructive={false}
              title={t('Rotate {name}', { name })}
              consequence={
                <OverlapField
                  label={t('The present key works for')}
                  value={overlapSeconds}
                  onChange={setOverlapSeconds}
                />
              }
              isRunning={rotate.isRunning}
              problem={rotate.problem}
              onConfirm={(close) =>
                rotate.run({ apiKeyId: id, overlapSeconds }, ({ rotateApiKey: result }) => {
                  close()
                  setKey(result?.key ?? null)
                })
              }
            />
            <ConfirmedButton
              label={t('Revoke')}
              title={t('Revoke {name}?', { name })}
              consequence={
                <p>{t('Programs that have the key are rejected at once. Nothing restores it.')}</p>
              }
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
          </div>
        )}
        {key !== null && (
          <Dialog title={name} isKept onClose={() => setKey(null)}>
            <ShownKey text={key} onStored={() => setKey(null)} />
          </Dialog>
        )}
      </td>
    </tr>
  )
}
