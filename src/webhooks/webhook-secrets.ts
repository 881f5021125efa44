import { createHmac, randomBytes } from 'node:crypto'
import { seal, unseal } from '../core/crypto.ts'
import type { WebhookHeader } from './webhooks.fields.ts'

/** The prefix of a secret, as Standard Webhooks has it. */
const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret: 256 random bits in base64, with the prefix. */
export const createWebhookSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`

/** The purpose of a sealed value. Moved to another webhook or tenant, it cannot be decrypted. */
export const toWebhookPurpose = (tenant: string, id: string, value: 'headers' | 'secret'): string =>
  `webhook:${tenant}:${id}:${value}`

export const sealWebhookSecret = (tenant: string, id: string, secret: string): string =>
  seal(toWebhookPurpose(tenant, id, 'secret'), secret)

const unsealWebhookSecret = (tenant: string, id: string, sealed: string): Buffer =>
  Buffer.from(
    unseal(toWebhookPurpose(tenant, id, 'secret'), sealed)
      .toString()
      .slice(PREFIX.length),
    'base64',
  )

export const sealWebhookHeaders = (tenant: string, id: string, headers: readonly WebhookHeader[]): string =>
  seal(toWebhookPurpose(tenant, id, 'headers'), JSON.stringify(headers))

/** The headers of a message as pairs. Throws UnsealError. */
export const unsealWebhookHeaders = (
  tenant: string,
  id: string,
  sealed: string | null,
): [string, string][] =>
  sealed === null
    ? []
    : (JSON.parse(unseal(toWebhookPurpose(tenant, id, 'headers'), sealed).toString()) as WebhookHeader[]).map(
        ({ name, value }) => [name, value],
      )

/**
 * The headers that identify and sign a message (Standard Webhooks): `v1,` and the HMAC-SHA-256 of id, time and body, for
 * each of the sealed secrets. Throws UnsealError.
 */
export function signMessage(
  { tenantId, recipientId }: { tenantId: string; recipientId: string },
  secrets: readonly string[],
  { messageId, body, sentAt }: { messageId: string; body: string; sentAt: Date },
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1000))
  const signatures = secrets.map((sealed) => {
    const key = unsealWebhookSecret(tenantId, recipientId, sealed)
    return `v1,${createHmac('sha256', key).update(`${messageId}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
