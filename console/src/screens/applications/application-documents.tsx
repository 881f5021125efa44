import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { applicationDocumentsDeleteMutation } from '../../generated/applicationDocumentsDeleteMutation.graphql.ts'
import type { applicationDocumentsQuery } from '../../generated/applicationDocumentsQuery.graphql.ts'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { MAX_ROWS, MoreRows, PAGE_SIZE } from '../../parts/more-rows.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { CodeBlock } from './code-block.tsx'

/** The GraphQL documents that are registered for an application. */
export function ApplicationDocuments({ clientId }: { clientId: string }) {
  const [count, setCount] = useState(PAGE_SIZE)
  const [{ viewer, trustedDocuments }, refresh] = useScreenQuery<applicationDocumentsQuery>(
    graphql`
      query applicationDocumentsQuery($clientId: ID!, $count: Int!) {
        viewer {
          eventPosition
        }
        trustedDocuments(filter: { clientId: $clientId }, last: $count) {
          totalSize
          nodes {
            id
            documentId
            operationName
            bytes
            text
            createdAt
          }
        }
      }
    `,
    { clientId, count },
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('clients:write')
  const remove = useProblemMutation<applicationDocumentsDeleteMutation>(graphql`
    mutation applicationDocumentsDeleteMutation($trustedDocumentId: ID!) {
      deleteTrustedDocument(input: { trustedDocumentId: $trustedDocumentId }) {
        ... on DeleteTrustedDocumentPayload {
          deletedTrustedDocumentId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const { totalSize = 0, nodes = [] } = trustedDocuments ?? {}
  return (
    <section className="card">
      {mayFollow && (
        <LiveChanges
          types={['TRUSTED_DOCUMENT_REGISTERED', 'TRUSTED_DOCUMENT_DELETED']}
          after={viewer?.eventPosition}
          onChange={refresh}
        />
      )}
      <h2>{t('Registered documents')}</h2>
      <p className="hint">
        {t(
          'GraphQL documents that the application sends by their id. A build registers them with registerTrustedDocuments; where the application may send no others, removing one stops the versions of the application that use it.',
        )}
      </p>
      {nodes.length === 0 ? (
        <p className="empty">{t('None is registered.')}</p>
      ) : (
        <ul>
          {nodes.toReversed().map(({ id, documentId, operationName, bytes, text, createdAt }) => (
            <li key={id}>
              <details>
                <summary>
                  {operationName ?? t('without a name')}{' '}
                  <span className="hint">
                    {t('{count} bytes', { count: bytes })} · <Time at={createdAt} />
                  </span>
                </summary>
                <CodeBlock name={documentId} code={text} />
                {mayWrite && (
                  <ConfirmedButton
                    label={t('Remove')}
                    title={t('Remove {name}', { name: operationName ?? documentId })}
                    consequence={t('The application cannot send it by its id any more.')}
                    isRunning={remove.isRunning}
                    problem={remove.problem}
                    onConfirm={(close) =>
                      remove.run({ trustedDocumentId: id }, () => {
                        close()
                        refresh()
                      })
                    }
                  />
                )}
              </details>
            </li>
          ))}
        </ul>
      )}
      <MoreRows
        hasMore={nodes.length < Math.min(totalSize, MAX_ROWS)}
        isLoading={false}
        load={() => setCount(Math.min(count + PAGE_SIZE, MAX_ROWS))}
      />
    </section>
  )
}
