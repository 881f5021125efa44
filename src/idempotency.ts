import { createHash } from 'node:crypto'
import { open, seal } from './crypto.ts'
import type { Ctx } from './ctx.ts'
import { sql } from './db.ts'
import { AppError, InvalidInput } from './errors.ts'
import { claimKey, releaseKey, storeAnswer } from './idempotency.sql.ts'
import { log } from './log.ts'

/**
 * Creations may be repeated under an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): the first call does the
 * work, the same call again gets the same answer for a day.
 *
 * The key is claimed before the work and given its answer after it, each in a statement of its own. So at most one of
 * many parallel calls works; and a call whose process dies on the way blocks the key for a minute only, after which a
 * repetition works again: what it made may then be there twice, unless a unique value of it forbids that.
 */

/** How long an answer is kept. */
const KEPT_SECONDS = 86_400
/** Longer than any creation takes: statements end after 10 s, and so do deliveries. */
const CLAIM_SECONDS = 60

export const IDEMPOTENCY_KEY = 'Idempotency-Key'
/** What an answer says that was given before. It has a request id of its own; its body is as it was. */
export const REPLAYED = { 'idempotency-replayed': 'true' }

/** A string of RFC 9651, section 3.3.3. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
const KEY = /^[\x21-\x7e]{1,255}$/

/**
 * The key in the value of the header: as it stands, or quoted as the draft has it; both name the same key. Null without
 * a header. Throws InvalidInput.
 */
export function idempotencyKeyOf(header: string | null): string | null {
  if (header === null) return null
  const key = header.startsWith('"') ? QUOTED.exec(header)?.[1]?.replaceAll(/\\(["\\])/g, '$1') : header
  if (key !== undefined && KEY.test(key)) return key
  throw new InvalidInput([
    { field: IDEMPOTENCY_KEY, description: 'must be 1 to 255 visible ASCII characters, given once' },
  ])
}

const hash = (...parts: unknown[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/** The hash of a request. JSON is read however deep it is nested, but not written: that overflows the stack. */
function hashOf(request: readonly unknown[], scopes: ReadonlySet<string>): Buffer {
  try {
    return hash(request, [...scopes].sort())
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new InvalidInput([{ field: '', description: 'the body is nested too deep' }])
  }
}

const conflict = (description: string, headers = {}) =>
  new AppError('CONFLICT', 409, 'The Idempotency-Key cannot be used for this.', {
    fields: [{ field: IDEMPOTENCY_KEY, description }],
    headers,
  })

/** What is stored cannot be read in another tenant's row, nor under another key. */
export const answerPurpose = (tenant: string, keyHash: Buffer): string =>
  `idempotency:${tenant}:${keyHash.toString('hex')}`

/** Outcomes that may be others next time, or are not about the request: the caller's token, limits, our own faults. */
export const isPassing = ({ status }: Pick<AppError, 'status'>): boolean =>
  status >= 500 || status === 401 || status === 403 || status === 429

export type Outcome<Answer> = { answer: Answer; isFinal: boolean }

/**
 * Does `work` unless the caller has had the same `request` answered under the same key; the answer is what JSON keeps of
 * it. An outcome that is not final gives the key back. A key belongs to one caller: client or person, and the tenant they
 * are of. Throws AppError CONFLICT when the key was used for another request (or with a token of other scopes, which
 * answers and permits other things), and while the first call is under way; InvalidInput for a body that is nested too deep; and
 * whatever `work` throws.
 */
export async function answerOnce<Answer extends object>(
  ctx: Ctx,
  key: string,
  request: readonly unknown[],
  work: () => Promise<Outcome<Answer>>,
): Promise<{ answer: Answer; isReplayed: boolean }> {
  const { tenant, actor } = ctx
  const caller =
    actor.kind === 'user'
      ? [actor.kind, actor.tenant, actor.clientId, actor.userId]
      : actor.kind === 'client'
        ? [actor.kind, actor.tenant, actor.clientId]
        : [actor.kind]
  const keyHash = hash(caller, key)
  const requestHash = hashOf(request, ctx.scopes)
  const row = await claimKey(sql, tenant, keyHash, requestHash, CLAIM_SECONDS)
  if (!row?.isClaimed) {
    if (row && !row.requestHash.equals(requestHash))
      throw conflict('was used for another request, or with a token of other scopes')
    if (!row?.answer) throw conflict('is being answered; try again', { 'retry-after': '1' })
    return {
      answer: JSON.parse(open(answerPurpose(tenant, keyHash), row.answer).toString()),
      isReplayed: true,
    }
  }
  const claim = { keyHash, createdAt: row.createdAt }
  const outcome = await work().catch(async (error) => {
    await settle(ctx, () => releaseKey(sql, tenant, claim))
    throw error
  })
  await settle(ctx, () =>
    outcome.isFinal
      ? storeAnswer(
          sql,
          tenant,
          claim,
          seal(answerPurpose(tenant, keyHash), JSON.stringify(outcome.answer)),
          KEPT_SECONDS,
        )
      : releaseKey(sql, tenant, claim),
  )
  return { answer: outcome.answer, isReplayed: false }
}

/** The work is done: whoever asked for it hears so, even when it cannot be remembered. */
async function settle({ requestId }: Ctx, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    log.warn({ requestId, err: error instanceof Error ? error.message : String(error) }, 'idempotency key')
  }
}
