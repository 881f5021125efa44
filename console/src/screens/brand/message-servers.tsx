import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type {
  DeliveryChannel,
  messageServersMutation,
} from '../../generated/messageServersMutation.graphql.ts'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { TextSetting } from '../../parts/setting-fields.tsx'
import { useSettings } from '../../parts/settings-form.tsx'
import { t } from '../../words/words.ts'

type Outcome = { to: string; delivered: boolean; outcome: string }

/** Sends a message to the person who is signed in, with the servers that are saved. */
function DeliveryTest({ channel, label }: { channel: DeliveryChannel; label: string }) {
  const { changed } = useSettings()
  const [result, setResult] = useState<Outcome | null>(null)
  const test = useProblemMutation<messageServersMutation>(graphql`
    mutation messageServersMutation($channel: DeliveryChannel!) {
      testDelivery(input: { channel: $channel }) {
        ... on TestDeliveryPayload {
          to
          delivered
          outcome
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const run = (): void => {
    setResult(null)
    test.run({ channel }, ({ testDelivery }) => setResult(testDelivery as Outcome))
  }
  return (
    <>
      <div className="actions">
        <button
          type="button"
          className="button quiet"
          disabled={test.isRunning || changed.length > 0}
          onClick={run}
        >
          {label}
        </button>
      </div>
      <div role="status">
        {result && (
          <p>
            {result.delivered
              ? t('Sent to {to}. {outcome}', { to: result.to, outcome: result.outcome })
              : t('Not sent to {to}. {outcome}', { to: result.to, outcome: result.outcome })}
          </p>
        )}
        <ProblemText problem={test.problem} />
      </div>
    </>
  )
}

/** The mail server and the gateway of the tenant, each with a test. */
export function MessageServers() {
  const { values } = useSettings()
  const again = t('Not shown again. Another server or user needs it again.')
  return (
    <section className="card">
      <h2>{t('Servers for messages')}</h2>
      <p>
        {t(
          'Without a server of your own, that of the deployment sends. While yours fails, no other sends in its place.',
        )}
      </p>
      <TextSetting
        name="mailServer"
        hint={t('smtps:// for TLS, smtp:// for STARTTLS, then the host, and the port if it is another.')}
      />
      <TextSetting name="mailServerUser" />
      {values.mailServerUser && <TextSetting name="mailServerPassword" type="password" hint={again} />}
      <DeliveryTest channel="EMAIL" label={t('Send me a mail')} />
      <TextSetting
        name="smsGatewayUrl"
        type="url"
        placeholder="https://"
        hint={t('It gets a POST request with “to” and “body” in JSON.')}
      />
      {values.smsGatewayUrl && <TextSetting name="smsGatewayToken" type="password" hint={again} />}
      <DeliveryTest channel="SMS" label={t('Send me a text message')} />
    </section>
  )
}
