import { LRUCache } from 'lru-cache'
import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import { OAuthError } from '../core/oauth-error.ts'
import { type RejectionEventType, recordRejection } from './rejections.ts'

/** A page that waits for a response calls again and again, and some programs send an origin that they do not need. */
const REPEAT_MS = 3_600_000

const recentOrigins = new LRUCache<string, true>({
  max: 5000,
  // Strangers choose the origins.
  maxSize: 1_000_000,
  sizeCalculation: (_, key) => 100 + 2 * key.length,
  ttl: REPEAT_MS,
})

/** The client that a request names, if it names one, and the origins whose pages may read its responses. */
export type OriginRules = { id?: string; allowedOrigins: readonly string[] }

/**
 * Records that a page gets no response, because the browser hides it (Fetch, section 3.2) or its socket is rejected: once
 * an hour for each client and origin, within the budgets of rejected requests. Without a client, for a preflight or upgrade
 * request, no client of the tenant lists the origin. Never throws.
 */
export async function recordRejectedOrigin(
  ctx: Ctx,
  type: RejectionEventType,
  endpoint: string,
  { id, allowedOrigins }: OriginRules,
  origin: string,
): Promise<void> {
  const key = [ctx.tenant, id, origin].join('\n')
  if (origin === env.baseUrl || recentOrigins.has(key)) return
  recentOrigins.set(key, true)
  const where = id === undefined ? 'of any client of the tenant' : 'of the client'
  const error = new OAuthError(
    'invalid_request',
    `The page gets no response: its origin is not in allowedOrigins ${where}.`,
    {
      diagnostics: {
        origin,
        ...(id !== undefined && { member: 'allowedOrigins', expected: allowedOrigins.join(' ') }),
      },
    },
  )
  if (!(await recordRejection(ctx, type, { endpoint, clientId: id ?? null }, error)))
    recentOrigins.delete(key)
}
