import { findClient } from '../clients/client-cache.ts'
import type { Ctx } from '../ctx.ts'
import { sql } from '../db.ts'
import { type OAuthError, type OAuthErrorCode, RateLimited, type Why } from '../errors.ts'
import { type EventType, recordEvents, wakeReaders } from '../events.ts'
import { spend } from '../limits.ts'
import { log } from '../log.ts'

/** What the log calls a refusal: of a person who was to be signed in, or of a client that wanted something by itself. */
export type RefusedAs = Extract<EventType, 'authorize.refused' | 'token.refused'>

/** Steps of a protocol that are told as errors, and nothing that anybody looks for: a device that waits, a nonce handed out. */
const IN_COURSE: ReadonlySet<OAuthErrorCode> = new Set([
  'authorization_pending',
  'slow_down',
  'use_dpop_nonce',
])

const MAX_TOLD_CHARACTERS = 500

/** Any text from outside, as the log can hold it. */
const tellable = (text: string): string =>
  text.replaceAll('\u0000', '').slice(0, MAX_TOLD_CHARACTERS).toWellFormed()

const tellableWhy = (why: Why): Why =>
  Object.fromEntries(
    Object.entries(why).map(([name, value]) => [name, typeof value === 'string' ? tellable(value) : value]),
  )

/** Secrets of ours look like this: who swaps id and secret must not find the secret in the log. */
const SECRET = /^[\w-]{43}$/
const unknownClient = (clientId: string): string =>
  SECRET.test(clientId) ? 'untold: it looks like a secret' : tellable(clientId)

/** A refused request: at which endpoint, and as whose it came; what it said of its client need not be true. */
export type RefusedRequest = { endpoint: string; clientId: string | null }

/**
 * Tells the tenant's log why a request was refused, with what the caller is not told, so that it is found by the request's
 * id. Anybody can be refused as often as they like: each network has its share of the log, and after that nothing is written.
 * Never throws: the answer is the caller's either way.
 */
export async function recordRefusal(
  ctx: Ctx,
  as: RefusedAs,
  { endpoint, clientId }: RefusedRequest,
  { error, message, why }: OAuthError,
): Promise<void> {
  if (IN_COURSE.has(error)) return
  try {
    await spend('refusedRequest', ctx.tenant, ctx.ip)
    const client = clientId ? await findClient(ctx.tenant, clientId) : null
    const detail = {
      error,
      description: tellable(message),
      ...(endpoint !== 'authorize' && { endpoint }),
      ...(clientId && !client && { client_id: unknownClient(clientId) }),
      ...tellableWhy(why),
    }
    await recordEvents(sql, ctx, [{ type: as, subjectIds: client ? [client.id] : [], detail }])
    wakeReaders(ctx.tenant)
  } catch (failure) {
    if (failure instanceof RateLimited) return
    const err = failure instanceof Error ? failure.message : String(failure)
    log.warn({ requestId: ctx.requestId, err }, 'a refusal could not be told')
  }
}
