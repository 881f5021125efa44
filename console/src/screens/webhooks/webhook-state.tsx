import { graphql, useFragment } from 'react-relay/hooks'
import type { webhookState_webhook$key } from '../../generated/webhookState_webhook.graphql.ts'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'

/** Whether a webhook sends, and since when its receiver fails. */
export function WebhookState({ webhook }: { webhook: webhookState_webhook$key }) {
  const { enabled, failingSince } = useFragment(
    graphql`
      fragment webhookState_webhook on Webhook {
        enabled
        failingSince
      }
    `,
    webhook,
  )
  if (!enabled) return <span className="badge">{t('Disabled')}</span>
  if (failingSince === null) return <span className="badge calm">{t('Sends')}</span>
  return (
    <>
      <span className="badge warning">{t('Failing')}</span> <Time at={failingSince} />
    </>
  )
}
