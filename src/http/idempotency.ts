import { createHash } from 'node:crypto'
import type { Ctx } from '../context/context.ts'
import { seal, unseal } from '../core/crypto.ts'
import { errorMessage } from '../core/error-message.ts'
import { AppError, InvalidInput } from '../core/errors.ts'
import { parseHeaderString } from '../core/json/structured-headers.ts'
import { log } from '../core/log.ts'
import { claimIdempotencyKey, releaseIdempotencyKey, storeIdempotentResponse } from './idempotency.sql.ts'

/**
 * Create requests with an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header) are executed once: for
 * a day, a retry gets the response of the first request.
 *
 * The key is claimed before the work and its response is stored after it, in separate statements. At most one
 * of concurrent requests is executed. When a process dies during a request, the key is blocked for a minute;
 * a later retry is executed again, which may create a second object unless a unique value prevents it.
 */

/** How long a response is stored. */
const RESPONSE_RETENTION_SECONDS = 86_400
/** A larger response is not stored. A user with all metadata has 130 KB. */
const MAX_STORED_BYTES = 256_000
/** Longer than any create request takes: statements and deliveries end after 10 s. */
const CLAIM_SECONDS = 60

export const IDEMPOTENCY_KEY = 'Idempotency-Key'
/** The header of a replayed response. Its body is that of the first response, its request id is new. */
export const REPLAYED_HEADER = { 'idempotency-replayed': 'true' }

const PLAIN_KEY = /^[\x21-\x7e]{1,255}$/
/** The header as a regular expression of the OpenAPI document: a key, or the same as a quoted string. */
export const IDEMPOTENCY_KEY_PATTERN = String.raw`^(?:[\x21\x23-\x7e][\x21-\x7e]{0,254}|"(?:[\x21\x23-\x5b\x5d-\x7e]|\\["\\]){1,255}")$`

/**
 * Parses the Idempotency-Key header. The key may be a quoted string, as in the draft, or unquoted; both are
 * the same key. Null without a header. Throws InvalidInput.
 */
export function parseIdempotencyKey(header: string | null): string | null {
  if (header === null) return null
  const key = header.startsWith('"') ? parseHeaderString(header) : header
  if (key !== null && PLAIN_KEY.test(key)) return key
  throw new InvalidInput([
    { field: IDEMPOTENCY_KEY, description: 'must be 1 to 255 visible ASCII characters, given once' },
  ])
}

const hashParts = (...parts: unknown[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/**
 * Hashes a request. JSON.parse accepts any depth, but JSON.stringify overflows the stack; throws InvalidInput
 * then.
 */
function hashRequest(request: readonly unknown[], scopes: ReadonlySet<string>): Buffer {
  try {
    return hashParts(request, [...scopes].sort())
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new InvalidInput([{ field: '', description: 'the body is nested too deeply' }])
  }
}

const createKeyConflictError = (description: string, headers = {}) =>
  new AppError('CONFLICT', 409, 'The Idempotency-Key cannot be used for this request.', {
    fields: [{ field: IDEMPOTENCY_KEY, description }],
    headers,
  })

/** Counts the bytes of a response that is to be stored for a caller; false when it has stored enough of them. */
type TakeStored = (ctx: Ctx, bytes: number) => boolean

/** The response as it is stored; null when it is too large, or its caller has stored too much: it cannot be repeated. */
function toStoredText(ctx: Ctx, response: object, takeStored: TakeStored): string {
  const text = JSON.stringify(response)
  const bytes = Buffer.byteLength(text)
  return bytes <= MAX_STORED_BYTES && takeStored(ctx, bytes) ? text : 'null'
}

/** The tenant and the key are part of the purpose, so that a response cannot be opened in another row. */
export const toStoredResponsePurpose = (tenant: string, keyHash: Buffer): string =>
  `idempotency:${tenant}:${keyHash.toString('hex')}`

/**
 * True for errors that a retry may not get, or that do not concern the request: of the access token, limits
 * and the server.
 */
export const isTransient = ({ status }: Pick<AppError, 'status'>): boolean =>
  status >= 500 || status === 401 || status === 403 || status === 429

export type IdempotentOutcome<Body> = { response: Body; isFinal: boolean }

/**
 * Executes `work`, or returns the stored response when the caller has sent the same `request` with the same
 * key before. The response is stored as JSON, of 256 KB at most and if `takeStored` permits it. An outcome that is not final releases the key. A key belongs to
 * one caller: a client or user of a tenant. Throws AppError CONFLICT when the key was used for another
 * request or with other scopes, while the first request is running, and when its response was not stored; InvalidInput for a body that is
 * nested too deeply; and what `work` throws. See docs/decisions/0019.
 */
export async function runIdempotently<Body extends object>(
  ctx: Ctx,
  key: string,
  request: readonly unknown[],
  work: () => Promise<IdempotentOutcome<Body>>,
  takeStored: TakeStored,
): Promise<{ response: Body; isReplayed: boolean }> {
  const { tenant, actor } = ctx
  const caller =
    actor.kind === 'user'
      ? [actor.kind, actor.tenant, actor.apiKeyId ?? actor.clientId, actor.userId]
      : actor.kind === 'client'
        ? [actor.kind, actor.tenant, actor.clientId]
        : actor.kind === 'key'
          ? [actor.kind, actor.tenant, actor.apiKeyId]
          : [actor.kind]
  const keyHash = hashParts(caller, key)
  const requestHash = hashRequest(request, ctx.scopes)
  const row = await claimIdempotencyKey(ctx.db, {
    keyHash,
    requestHash,
    seconds: CLAIM_SECONDS,
    isReplaced: false,
  })
  if (!row?.isClaimed) {
    if (row && !row.requestHash.equals(requestHash))
      throw createKeyConflictError('was used for another request, or with a token of other scopes')
    if (!row?.answer)
      throw createKeyConflictError('is in use by a request that is still running; try again', {
        'retry-after': '1',
      })
    const response = JSON.parse(unseal(toStoredResponsePurpose(tenant, keyHash), row.answer).toString())
    if (!response)
      throw createKeyConflictError('was used by a request that took effect, whose response was not stored')
    return { response, isReplayed: true }
  }
  const claim = { keyHash, createdAt: row.createdAt }
  const outcome = await work().catch(async (error) => {
    await logWriteError(ctx, () => releaseIdempotencyKey(ctx.db, claim))
    throw error
  })
  await logWriteError(ctx, () =>
    outcome.isFinal
      ? storeIdempotentResponse(
          ctx.db,
          claim,
          seal(toStoredResponsePurpose(tenant, keyHash), toStoredText(ctx, outcome.response, takeStored)),
          RESPONSE_RETENTION_SECONDS,
        )
      : releaseIdempotencyKey(ctx.db, claim),
  )
  return { response: outcome.response, isReplayed: false }
}

/** The work is done: a failure to store the response is logged and not thrown. */
async function logWriteError({ requestId }: Ctx, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    log.warn({ requestId, err: errorMessage(error) }, 'idempotency key')
  }
}
