import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { userApiKeys_query$key } from '../../generated/userApiKeys_query.graphql.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { ApiKeyTable } from '../api-keys/api-key-table.tsx'
import { NewApiKeyDialog } from '../api-keys/new-api-key.tsx'

/** The API keys of a user; nothing for a viewer who may not read keys. */
export function UserApiKeys({
  userId,
  query,
  onChange,
}: {
  userId: string
  query: userApiKeys_query$key
  onChange: () => void
}) {
  const { apiKeys } = useFragment(
    graphql`
      fragment userApiKeys_query on Query @argumentDefinitions(userId: { type: "ID!" }) {
        apiKeys(first: 50, filter: { userId: $userId }) {
          nodes {
            id
            ...apiKeyTable_apiKey
          }
        }
      }
    `,
    query,
  )
  const mayWrite = useMay('api_keys:write')
  const [isOpen, setIsOpen] = useState(false)
  if (!apiKeys) return null
  return (
    <section className="card">
      <h2>{t('API keys')}</h2>
      {apiKeys.nodes.length === 0 ? (
        <p className="empty">{t('No program acts in the name of this user.')}</p>
      ) : (
        <ApiKeyTable apiKeys={apiKeys.nodes} onChange={onChange} />
      )}
      {mayWrite && (
        <div className="actions">
          <button type="button" className="button quiet" onClick={() => setIsOpen(true)}>
            {t('Create a key')}
          </button>
        </div>
      )}
      {isOpen && <NewApiKeyDialog userId={userId} onCreated={onChange} onClose={() => setIsOpen(false)} />}
    </section>
  )
}
