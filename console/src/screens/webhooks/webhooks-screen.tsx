import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { webhooksScreenQuery } from '../../generated/webhooksScreenQuery.graphql.ts'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { Time } from '../../parts/time.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { NewWebhookDialog } from './webhook-form.tsx'
import { WebhookState } from './webhook-state.tsx'

/** The webhooks of the tenant and its organizations. */
export function WebhooksScreen() {
  const [{ viewer, webhooks }, refresh] = useScreenQuery<webhooksScreenQuery>(
    graphql`
      query webhooksScreenQuery {
        viewer {
          eventPosition
        }
        webhooks(first: 200) {
          nodes {
            id
            url
            description
            types
            createdAt
            ...webhookState_webhook
          }
        }
      }
    `,
    {},
  )
  const mayFollow = useMay('events:read')
  const mayWrite = useMay('webhooks:write') && mayFollow
  const [isOpen, setIsOpen] = useState(false)
  if (!webhooks) return <p className="empty">{t('You may not read webhooks.')}</p>
  return (
    <section className="screen">
      {mayFollow && (
        <LiveChanges
          types={[
            'WEBHOOK_CREATED',
            'WEBHOOK_UPDATED',
            'WEBHOOK_DELETED',
            'WEBHOOK_FAILING',
            'WEBHOOK_RECOVERED',
            'WEBHOOK_DISABLED',
          ]}
          after={viewer?.eventPosition}
          onChange={refresh}
        />
      )}
      <header className="screen-head">
        <h1>{t('Webhooks')}</h1>
        {mayWrite && (
          <button type="button" className="button" onClick={() => setIsOpen(true)}>
            {t('Create a webhook')}
          </button>
        )}
      </header>
      {webhooks.nodes.length === 0 ? (
        <p className="empty">{t('No webhook yet. A webhook sends the events of the tenant to a URL.')}</p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t('URL')}</th>
              <th scope="col">{t('State')}</th>
              <th scope="col">{t('Events')}</th>
              <th scope="col">{t('Created')}</th>
            </tr>
          </thead>
          <tbody>
            {webhooks.nodes.map((webhook) => (
              <tr key={webhook.id}>
                <th scope="row">
                  <Link to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
                    {webhook.url}
                  </Link>
                  {webhook.description && <p className="hint">{webhook.description}</p>}
                </th>
                <td>
                  <WebhookState webhook={webhook} />
                </td>
                <td data-label={t('Events')}>
                  {webhook.types.length === 0 ? t('all') : webhook.types.length}
                </td>
                <td data-label={t('Created')}>
                  <Time at={webhook.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isOpen && <NewWebhookDialog onCreated={refresh} onClose={() => setIsOpen(false)} />}
    </section>
  )
}
