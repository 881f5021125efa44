import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type { organizationWebhooks_query$key } from '../../generated/organizationWebhooks_query.graphql.ts'
import { t } from '../../words/words.ts'
import { NewWebhookDialog } from '../webhooks/webhook-form.tsx'
import { WebhookState } from '../webhooks/webhook-state.tsx'

/** The webhooks of an organization; nothing for a viewer who may not read them. */
export function OrganizationWebhooks({
  organizationId,
  query,
  mayWrite,
  onChange,
}: {
  organizationId: string
  query: organizationWebhooks_query$key
  mayWrite: boolean
  onChange: () => void
}) {
  const { webhooks } = useFragment(
    graphql`
      fragment organizationWebhooks_query on Query
      @argumentDefinitions(organizationId: { type: "ID!" }) {
        webhooks(first: 10, filter: { organizationId: $organizationId }) {
          nodes {
            id
            url
            ...webhookState_webhook
          }
        }
      }
    `,
    query,
  )
  const [isOpen, setIsOpen] = useState(false)
  if (!webhooks) return null
  return (
    <section className="card">
      <h2>{t('Webhooks')}</h2>
      {webhooks.nodes.length === 0 && (
        <p className="empty">
          {t('No webhook yet. A webhook sends the events of the organization to a URL.')}
        </p>
      )}
      <ul className="sessions">
        {webhooks.nodes.map((webhook) => (
          <li key={webhook.id}>
            <Link to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
              {webhook.url}
            </Link>
            <div>
              <WebhookState webhook={webhook} />
            </div>
          </li>
        ))}
      </ul>
      {mayWrite && (
        <div className="actions">
          <button type="button" className="button quiet" onClick={() => setIsOpen(true)}>
            {t('Create a webhook')}
          </button>
        </div>
      )}
      {isOpen && (
        <NewWebhookDialog
          organizationId={organizationId}
          onCreated={onChange}
          onClose={() => setIsOpen(false)}
        />
      )}
    </section>
  )
}
