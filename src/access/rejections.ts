import type { Ctx } from '../context/context.ts'
import { takeStorage } from '../coordination/storage-budgets.ts'
import { errorMessage } from '../core/error-message.ts'
import { measureJson } from '../core/json/json-size.ts'
import { log } from '../core/log.ts'
import type { Diagnostics, OAuthError, OAuthErrorCode } from '../core/oauth-error.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { RefusedEventType } from '../events/types.ts'
import { findClient } from './client-cache.ts'

/** The event type of a rejection: of an authorize request, or of a request by a client itself. */
export type RejectionEventType = RefusedEventType

/** Errors that are normal steps of a protocol and not recorded: a pending device code, a new nonce. */
const EXPECTED_ERRORS: ReadonlySet<OAuthErrorCode> = new Set([
  'authorization_pending',
  'slow_down',
  'use_dpop_nonce',
])

const MAX_LOGGED_CHARACTERS = 500

/** Untrusted text in a form that the database can store. */
const toLoggableText = (text: string): string =>
  text.replaceAll('\u0000', '').slice(0, MAX_LOGGED_CHARACTERS).toWellFormed()

const toLoggableDiagnostics = (diagnostics: Diagnostics): Diagnostics =>
  Object.fromEntries(
    Object.entries(diagnostics).map(([name, value]) => [
      name,
      typeof value === 'string' ? toLoggableText(value) : value,
    ]),
  )

/** The syntax of client secrets: when a client swaps id and secret, the secret must not be recorded. */
const SECRET_SYNTAX = /^[\w-]{43}$/
const toLoggableClientId = (clientId: string): string =>
  SECRET_SYNTAX.test(clientId) ? 'untold: it looks like a secret' : toLoggableText(clientId)

/** A rejected request. `clientId` is that of the request; it need not be authenticated. */
export type RejectedRequest = { endpoint: string; clientId: string | null }

/**
 * Records a rejected request with its diagnostics in the tenant's event log, where it can be found by its
 * request id. Budgets of the network and the tenant bound what rejected requests can write; beyond them, it is
 * counted in the metrics instead. Returns whether it was recorded. Never throws.
 */
export async function recordRejection(
  ctx: Ctx,
  type: RejectionEventType,
  { endpoint, clientId }: RejectedRequest,
  { error, message, diagnostics }: OAuthError,
): Promise<boolean> {
  if (EXPECTED_ERRORS.has(error)) return false
  try {
    const summary = {
      error,
      description: toLoggableText(message),
      ...(endpoint !== 'authorize' && { endpoint }),
    }
    const claimedId = clientId && { client_id: toLoggableClientId(clientId) }
    const facts = toLoggableDiagnostics(diagnostics)
    const bytes = measureJson([summary, claimedId, facts])
    if (await takeStorage('rejection', ctx, { bytes, what: type })) return false
    const client = clientId ? await findClient(ctx.tenant, clientId) : null
    const detail = { ...summary, ...(!client && claimedId), ...facts }
    await recordEvents(ctx.db, ctx, [createEvent(type, { clientId: client?.id ?? null }, detail)])
    return true
  } catch (cause) {
    const err = errorMessage(cause)
    log.warn({ requestId: ctx.requestId, err }, 'a rejected request could not be recorded')
    return false
  }
}
