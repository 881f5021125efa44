import { graphql, useFragment } from 'react-relay/hooks'
import type { webhookDeliveries_webhook$key } from '../../generated/webhookDeliveries_webhook.graphql.ts'
import type { webhookDeliveriesAgainMutation } from '../../generated/webhookDeliveriesAgainMutation.graphql.ts'
import type { webhookDeliveriesSubscription } from '../../generated/webhookDeliveriesSubscription.graphql.ts'
import { ProblemText } from '../../parts/form.tsx'
import { useGathered, useLive } from '../../parts/live-events.ts'
import { useProblemMutation } from '../../parts/mutation.ts'
import { Time } from '../../parts/time.tsx'
import '../applications/applications.css'
import { t, tCount } from '../../words/words.ts'
import { CodeBlock } from '../applications/code-block.tsx'

const STATES = { PENDING: t('Pending'), ACCEPTED: t('Accepted'), FAILED: t('Failed') }
const CLASSES = { PENDING: 'badge', ACCEPTED: 'badge calm', FAILED: 'badge warning' }

/** Follows the messages of a webhook: those that are shown change by themselves, and `onChange` reads new ones. */
export function LiveDeliveries({
  webhookId,
  organizationId,
  after,
  onChange,
}: {
  webhookId: string
  /** The organization that the viewer manages. */
  organizationId: string | undefined
  after: string | null | undefined
  onChange: () => void
}) {
  const gather = useGathered(onChange)
  useLive<webhookDeliveriesSubscription>({
    subscription: graphql`
      subscription webhookDeliveriesSubscription($webhookId: ID!, $organizationId: ID, $after: String) {
        webhookDeliveryChanged(webhookId: $webhookId, organizationId: $organizationId, after: $after) {
          id
          status
        }
      }
    `,
    variables: { webhookId, organizationId, after },
    onNext: gather,
  })
  return null
}

/** The newest messages of a webhook, with what the receiver answered. */
export function WebhookDeliveries({
  webhook,
  mayWrite,
  onChange,
}: {
  webhook: webhookDeliveries_webhook$key
  mayWrite: boolean
  onChange: () => void
}) {
  const { deliveries } = useFragment(
    graphql`
      fragment webhookDeliveries_webhook on Webhook {
        deliveries(last: 50) {
          nodes {
            id
            messageId
            type
            status
            attempts
            httpStatus
            fault
            latencyMs
            response
            body
            createdAt
            nextAt
          }
        }
      }
    `,
    webhook,
  )
  const again = useProblemMutation<webhookDeliveriesAgainMutation>(graphql`
    mutation webhookDeliveriesAgainMutation($webhookDeliveryId: ID!) {
      redeliverWebhookDelivery(input: { webhookDeliveryId: $webhookDeliveryId }) {
        ... on RedeliverWebhookDeliveryPayload {
          webhookDelivery {
            id
            status
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  if (!deliveries) return null
  return (
    <section className="card">
      <h2>{t('Messages')}</h2>
      <p className="hint">{t('The newest 50. Finished ones are kept for a week.')}</p>
      <ProblemText problem={again.problem} />
      {deliveries.nodes.length === 0 && <p className="empty">{t('Nothing was sent yet.')}</p>}
      {deliveries.nodes.toReversed().map((message) => (
        <details key={message.id}>
          <summary>
            <span className={CLASSES[message.status as keyof typeof CLASSES]}>
              {STATES[message.status as keyof typeof STATES]}
            </span>{' '}
            {message.type}{' '}
            <span className="hint">
              {message.httpStatus ?? message.fault ?? ''} · <Time at={message.createdAt} />
            </span>
          </summary>
          <p className="hint">
            {tCount(message.attempts, '{count} attempt', '{count} attempts')}
            {message.latencyMs !== null && ` · ${t('{count} ms', { count: message.latencyMs })}`}
            {message.nextAt && (
              <>
                {' · '}
                {t('next attempt')} <Time at={message.nextAt} />
              </>
            )}
          </p>
          <CodeBlock name={message.messageId} code={JSON.stringify(message.body, null, 2)} />
          {message.response && <CodeBlock name={t('Answer')} code={message.response} />}
          {mayWrite && (
            <button
              type="button"
              className="button quiet"
              disabled={again.isRunning}
              onClick={() => again.run({ webhookDeliveryId: message.id }, onChange)}
            >
              {t('Send again')}
            </button>
          )}
        </details>
      ))}
    </section>
  )
}
