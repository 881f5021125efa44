import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { webhookScreenDeleteMutation } from '../../generated/webhookScreenDeleteMutation.graphql.ts'
import type { webhookScreenQuery } from '../../generated/webhookScreenQuery.graphql.ts'
import type { webhookScreenRotateMutation } from '../../generated/webhookScreenRotateMutation.graphql.ts'
import type { webhookScreenTestMutation } from '../../generated/webhookScreenTestMutation.graphql.ts'
import type { webhookScreenUpdateMutation } from '../../generated/webhookScreenUpdateMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ConfirmedButton, Dialog } from '../../parts/dialog.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { LiveChanges } from '../../parts/live-changes.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { useScreenQuery } from '../../parts/screen-query.ts'
import { useManagedOrganization, useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { LiveDeliveries, WebhookDeliveries } from './webhook-deliveries.tsx'
import { ShownSecret } from './webhook-form.tsx'
import { WebhookState } from './webhook-state.tsx'

const route = getRouteApi('/webhooks/$webhookId')

/** One webhook: what it sends, what its receiver answers, and what may be done. */
export function WebhookScreen() {
  const { webhookId } = route.useParams()
  const navigate = useNavigate()
  const [secret, setSecret] = useState<string | null>(null)
  const [{ viewer, webhook }, refresh] = useScreenQuery<webhookScreenQuery>(
    graphql`
      query webhookScreenQuery($webhookId: ID!) {
        viewer {
          eventPosition
        }
        webhook(id: $webhookId) {
          id
          organizationId
          url
          description
          types
          payload
          enabled
          headerNames
          position
          ...webhookState_webhook
          ...webhookDeliveries_webhook
        }
      }
    `,
    { webhookId },
  )
  const update = useProblemMutation<webhookScreenUpdateMutation>(graphql`
    mutation webhookScreenUpdateMutation($webhookId: ID!, $enabled: Boolean!) {
      updateWebhook(input: { webhookId: $webhookId, enabled: $enabled }) {
        ... on UpdateWebhookPayload {
          webhook {
            id
            ...webhookState_webhook
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const test = useProblemMutation<webhookScreenTestMutation>(graphql`
    mutation webhookScreenTestMutation($webhookId: ID!) {
      testWebhook(input: { webhookId: $webhookId }) {
        ... on TestWebhookPayload {
          webhookDelivery {
            id
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const rotate = useProblemMutation<webhookScreenRotateMutation>(graphql`
    mutation webhookScreenRotateMutation($webhookId: ID!) {
      rotateWebhookSecret(input: { webhookId: $webhookId }) {
        ... on RotateWebhookSecretPayload {
          secret
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const remove = useProblemMutation<webhookScreenDeleteMutation>(graphql`
    mutation webhookScreenDeleteMutation($webhookId: ID!) {
      deleteWebhook(input: { webhookId: $webhookId }) {
        ... on DeleteWebhookPayload {
          deletedWebhookId
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const managedId = useManagedOrganization()
  const isManaged = managedId !== null && managedId === webhook?.organizationId
  const mayFollow = useMay('events:read') || isManaged
  const mayWrite = (useMay('webhooks:write') && mayFollow) || isManaged
  const organizationId = isManaged ? managedId : undefined
  if (!webhook)
    return (
      <div className="outcome">
        <h1>{t('There is no such webhook')}</h1>
        <Link to="/webhooks" className="button">
          {t('All webhooks')}
        </Link>
      </div>
    )
  const { url, description, types, enabled, headerNames, position } = webhook
  return (
    <section className="screen">
      <header className="screen-head">
        <div>
          <h1>{url}</h1>
          <CopiedText text={webhook.id} />
        </div>
        <WebhookState webhook={webhook} />
      </header>
      <dl className="facts card">
        {description && (
          <>
            <dt>{t('Description')}</dt>
            <dd>{description}</dd>
          </>
        )}
        <dt>{t('Events')}</dt>
        <dd>{types.length === 0 ? t('all') : types.join(' ').toLowerCase()}</dd>
        <dt>{t('Headers')}</dt>
        <dd>
          {headerNames.length === 0 ? <span className="none">{t('none')}</span> : headerNames.join(', ')}
        </dd>
        <dt>{t('Position in the log')}</dt>
        <dd>
          <CopiedText text={position} />
        </dd>
      </dl>
      {mayWrite && (
        <div className="actions">
          <button
            type="button"
            className="button"
            disabled={test.isRunning}
            onClick={() => test.run({ webhookId }, () => refresh())}
          >
            {t('Send a test')}
          </button>
          <button
            type="button"
            className="button quiet"
            disabled={update.isRunning}
            onClick={() => update.run({ webhookId, enabled: !enabled })}
          >
            {enabled ? t('Disable') : t('Enable')}
          </button>
          <ConfirmedButton
            label={t('Rotate the secret')}
            isDestructive={false}
            title={t('Rotate the secret of the webhook?')}
            consequence={t('Messages are signed with both secrets for one day.')}
            isRunning={rotate.isRunning}
            problem={rotate.problem}
            onConfirm={(close) =>
              rotate.run({ webhookId }, ({ rotateWebhookSecret }) => {
                close()
                setSecret(rotateWebhookSecret?.secret ?? null)
              })
            }
          />
          <ConfirmedButton
            label={t('Delete')}
            title={t('Delete {name}', { name: url })}
            consequence={t('Nothing is sent any more, and its messages are deleted.')}
            name={url}
            isRunning={remove.isRunning}
            problem={remove.problem}
            onConfirm={(close) =>
              remove.run({ webhookId }, () => {
                close()
                notify(t('{name} is deleted.', { name: url }))
                void navigate(
                  isManaged
                    ? { to: '/organizations/$organizationId', params: { organizationId: managedId } }
                    : { to: '/webhooks' },
                )
              })
            }
          />
        </div>
      )}
      <ProblemText problem={test.problem ?? update.problem} />
      {mayFollow && (
        <>
          <LiveChanges
            subjectId={webhookId}
            organizationId={organizationId}
            after={viewer?.eventPosition}
            onChange={refresh}
          />
          <LiveDeliveries
            webhookId={webhookId}
            organizationId={organizationId}
            after={viewer?.eventPosition}
            onChange={refresh}
          />
        </>
      )}
      <WebhookDeliveries webhook={webhook} mayWrite={mayWrite} onChange={() => refresh()} />
      {secret !== null && (
        <Dialog title={t('Secret')} isKept onClose={() => setSecret(null)}>
          <ShownSecret text={secret} onStored={() => setSecret(null)} />
        </Dialog>
      )}
    </section>
  )
}
