import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import { usePaginationFragment } from 'react-relay/relay-hooks/usePaginationFragment'
import type { apiKeysScreen_apiKeys$key } from '../../generated/apiKeysScreen_apiKeys.graphql.ts'
import type { apiKeysScreenPageQuery } from '../../generated/apiKeysScreenPageQuery.graphql.ts'
import type { apiKeysScreenQuery } from '../../generated/apiKeysScreenQuery.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { countPage, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t, tCount } from '../../words/words.ts'
import { ApiKeyTable } from './api-key-table.tsx'
import { NewApiKeyDialog } from './new-api-key.tsx'

/** The API keys of the tenant itself, newest first. */
export function ApiKeysScreen() {
  const [query, refresh] = useScreenQuery<apiKeysScreenQuery>(
    graphql`
      query apiKeysScreenQuery($last: Int!) {
        viewer {
          eventPosition
        }
        ...apiKeysScreen_apiKeys @arguments(last: $last)
      }
    `,
    { last: PAGE_SIZE },
  )
  const { data, loadPrevious, hasPrevious, isLoadingPrevious } = usePaginationFragment<
    apiKeysScreenPageQuery,
    apiKeysScreen_apiKeys$key
  >(
    graphql`
      fragment apiKeysScreen_apiKeys on Query
      @argumentDefinitions(before: { type: "String" }, last: { type: "Int" })
      @refetchable(queryName: "apiKeysScreenPageQuery") {
        apiKeys(last: $last, before: $before, filter: { owner: TENANT })
          @connection(key: "apiKeysScreen_apiKeys") {
          totalSize
          edges {
            node {
              id
              ...apiKeyTable_apiKey
            }
          }
        }
      }
    `,
    query,
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('api_keys:write')
  const [isOpen, setIsOpen] = useState(false)
  const { apiKeys } = data
  const refreshAll = () => refresh({ last: countPage(apiKeys?.edges.length) })
  if (!apiKeys) return <p className="empty">{t('You may not read API keys.')}</p>
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={['API_KEY_CREATED', 'API_KEY_UPDATED', 'API_KEY_ROTATED', 'API_KEY_REVOKED']}
          after={query.viewer?.eventPosition}
          onChange={refreshAll}
        />
      )}
      <header className="screen-head">
        <h1>{t('API keys')}</h1>
        {mayWrite && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('Create a key')}
          </button>
        )}
      </header>
      <p className="count" role="status">
        {tCount(apiKeys.totalSize, '{count} key of the tenant', '{count} keys of the tenant')}
      </p>
      {apiKeys.edges.length === 0 ? (
        <p className="empty">{t('No program has a key. Keys of users are on the screens of the users.')}</p>
      ) : (
        <ApiKeyTable apiKeys={apiKeys.edges.map(({ node }) => node).reverse()} onChange={refreshAll} />
      )}
      <MoreRows
        hasMore={hasPrevious}
        isLoading={isLoadingPrevious}
        load={() => void loadPrevious(PAGE_SIZE)}
      />
      {isOpen && <NewApiKeyDialog userId={null} onCreated={refreshAll} onClose={() => setIsOpen(false)} />}
    </section>
  )
}
