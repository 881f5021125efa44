import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { organizationApiKeys_query$key } from '../../generated/organizationApiKeys_query.graphql.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { ApiKeyTable } from '../api-keys/api-key-table.tsx'
import { NewApiKeyDialog } from '../api-keys/new-api-key.tsx'

/** The API keys of an organization and of its members in it; nothing for a viewer who may not read keys. */
export function OrganizationApiKeys({
  organizationId,
  query,
  onChange,
}: {
  organizationId: string
  query: organizationApiKeys_query$key
  onChange: () => void
}) {
  const { apiKeys } = useFragment(
    graphql`
      fragment organizationApiKeys_query on Query
      @argumentDefinitions(organizationId: { type: "ID!" }) {
        apiKeys(first: 200, filter: { organizationId: $organizationId }) {
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
        <p className="empty">{t('No program acts in the name of this organization.')}</p>
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
      {isOpen && (
        <NewApiKeyDialog
          userId={null}
          organizationId={organizationId}
          onCreated={onChange}
          onClose={() => setIsOpen(false)}
        />
      )}
    </section>
  )
}
