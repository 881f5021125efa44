import { createPlatformCtx } from '../context/context.ts'
import { log } from '../core/log.ts'
import { FetchError, guardedFetch } from '../core/network/fetcher.ts'
import { type OutboxLimits, startOutbox } from '../delivery/outbox/outbox.ts'
import { createEvent } from '../events/create-event.ts'
import { createEventRow } from '../events/log.ts'
import {
  acceptMessages,
  giveUpMessage,
  postponeMessage,
  WEBHOOK_CLAIM,
  type WebhookAnswer,
  type WebhookMessage,
} from './deliveries.sql.ts'
import { announceDisabled } from './disabled-notice.ts'
import { signMessage, unsealWebhookHeaders } from './webhook-secrets.ts'

/** A receiver gets messages about many subjects at a time; one that hangs is tried with one message only. */
const LIMITS: OutboxLimits = { total: 64, perRecipient: 16 }
/** A receiver that answers again gets its messages within this time. */
const MAX_PAUSE_SECONDS = 600
/** Bytes of an answer that are kept. */
const KEPT_BYTES = 1024

const isAccepted = ({ status }: WebhookAnswer): boolean => status !== null && status >= 200 && status < 300

/** The receiver itself fails, as opposed to one that rejects a message. */
const isFault = ({ status }: WebhookAnswer): boolean => status === null || status >= 500 || status === 429

/** PostgreSQL stores no NUL in a text. */
const toStoredText = (bytes: ArrayBuffer): string | null =>
  Buffer.from(bytes).toString().replaceAll('\0', '\uFFFD') || null

/**
 * Sends a message, signed (Standard Webhooks), within ten seconds, to public addresses only, without following redirects.
 * Never throws.
 */
async function sendMessage(message: WebhookMessage, signal: AbortSignal): Promise<WebhookAnswer> {
  const { tenantId, recipientId, messageId, url, body, secret, previousSecret, headers } = message
  const startedAt = performance.now()
  const measure = (): number => Math.round(performance.now() - startedAt)
  try {
    const secrets = previousSecret ? [secret, previousSecret] : [secret]
    const response = await guardedFetch(url, {
      method: 'POST',
      headers: [
        ...unsealWebhookHeaders(tenantId, recipientId, headers),
        ['content-type', 'application/json'],
        ...Object.entries(signMessage(message, secrets, { messageId, body, sentAt: new Date() })),
      ],
      body,
      keepBytes: KEPT_BYTES,
      signal,
    })
    const kept = toStoredText(await response.arrayBuffer())
    return { status: response.status, fault: null, latencyMs: measure(), response: kept }
  } catch (error) {
    const fault = error instanceof FetchError ? error.kind : 'internal'
    if (fault === 'internal') log.error({ err: error, webhookId: recipientId }, 'cannot send a message')
    return { status: null, fault, latencyMs: measure(), response: null }
  }
}

/**
 * Sends the messages of the webhooks of all tenants. The returned function stops it and resolves when no attempt is
 * running.
 */
export const startWebhookDeliveries = (): (() => Promise<void>) =>
  startOutbox<WebhookMessage, WebhookAnswer>({
    name: 'webhooks',
    limits: LIMITS,
    store: {
      ...WEBHOOK_CLAIM,
      accept: (db, accepted) => {
        const recovered = createEventRow(createPlatformCtx(db.tenant), createEvent('webhook.recovered', null))
        const answers = accepted.map(({ message: { id }, answer }) => ({ ...answer, id }))
        return acceptMessages(db, { answers, events: [recovered] })
      },
      finish: async (db, message, end) => {
        if (end === null) return
        const { tenantId, id } = message
        const { answer } = end
        const ctx = createPlatformCtx(tenantId)
        const events = [createEventRow(ctx, createEvent('webhook.disabled', null))]
        const disabled = await giveUpMessage(db, { id, events, ...answer })
        if (disabled) announceDisabled(ctx, disabled)
      },
      postpone: (db, { tenantId, id, attempts }, { answer, pauseSeconds, isAborted }) => {
        const { status, fault } = answer
        const failing = createEvent('webhook.failing', null, { status, fault })
        return postponeMessage(db, {
          id,
          attempts,
          pauseSeconds: Math.min(pauseSeconds, MAX_PAUSE_SECONDS),
          isFault: isFault(answer) && !isAborted,
          events: [createEventRow(createPlatformCtx(tenantId), failing)],
          ...answer,
        })
      },
    },
    send: sendMessage,
    isAccepted,
  })
