import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TenantCall } from '../access/endpoint.http.ts'
import type { Ctx } from '../context/context.ts'
import { takeStorage } from '../coordination/storage-budgets.ts'
import { seal, sha256Base64url, unseal } from '../core/crypto.ts'
import { errorMessage } from '../core/error-message.ts'
import { Unavailable } from '../core/errors.ts'
import { log } from '../core/log.ts'
import {
  claimIdempotencyKey,
  releaseIdempotencyKey,
  selectIdempotentAnswer,
  storeIdempotentResponse,
} from '../http/idempotency.sql.ts'
import { type CookieKind, nameCookie, readCookie } from './cookies.ts'

/**
 * A form that its browser sends again, in parallel or later, gets the response of the first submission, cookies
 * included: a browser that sends a form twice drops the first response. What the form says is not judged twice.
 *
 * The form is claimed before the work, as an Idempotency-Key is. Its digest contains the CSRF token, which is another
 * one for each page that was shown. The last form of an owner is kept, for a minute.
 */

/** How long a response is kept: as long as an authorization code in it is valid. */
const ANSWER_SECONDS = 60
/** Longer than any form takes: statements and deliveries end after 10 s. */
const CLAIM_SECONDS = 30
const MAX_ANSWER_CHARACTERS = 65_536
/** How long a repeated form waits for the first response, and between two looks. */
const WAIT_MS = 10_000
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 320

/** A form that was sent. */
export type SentForm = {
  ctx: Pick<Ctx, 'tenant' | 'ip' | 'requestId' | 'db'>
  /** Of what it is a form: one response is kept for each owner. */
  owner: readonly string[]
  /** Its fields. */
  fields: Record<string, string>
  /**
   * The cookies that bind it to its browser, and the Cookie header: a browser has the first one, and may lack the others,
   * such as that of its session. None where the URL is the only credential.
   */
  cookieNames: readonly string[]
  cookies: string | null
}

/** A form that the browser of a call has sent, bound to cookies of some kinds. */
export const createSentForm = (
  { ctx, event }: TenantCall,
  owner: string[],
  fields: Record<string, string>,
  kinds: CookieKind[] = [],
): SentForm => ({
  ctx,
  owner,
  fields,
  cookieNames: kinds.map((kind) => nameCookie(kind, ctx.tenant)),
  cookies: event.req.headers.get('cookie'),
})

/** A response as it is kept. `bindings`: hashes of the cookies that the browser has before and after it. */
type KeptAnswer = { bindings: string[]; status: number; headers: [string, string][]; body: string }

const hashParts = (...parts: unknown[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/** The keys of the row that keeps the response to a form. */
const toKeys = ({ owner, fields }: SentForm): { keyHash: Buffer; requestHash: Buffer } => ({
  keyHash: hashParts('form', ...owner),
  requestHash: hashParts(Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1))),
})

const toPurpose = (tenant: string, keyHash: Buffer): string =>
  `form-answer:${tenant}:${keyHash.toString('hex')}`

/** The response to a form, and whether the form was sent before. */
export type FormAnswer = { response: Response; isRepeated: boolean }

/**
 * Responds to a form with `work`, or with the response to the same form of the same browser. The caller has verified the
 * CSRF token, so that only shown forms are kept. Throws what `work` throws, which is not kept; Unavailable when the
 * first response takes too long.
 */
export async function answerOnce(sent: SentForm, work: () => Promise<Response>): Promise<FormAnswer> {
  const { keyHash, requestHash } = toKeys(sent)
  const end = Date.now() + WAIT_MS
  while (Date.now() < end) {
    const row = await claimIdempotencyKey(sent.ctx.db, {
      keyHash,
      requestHash,
      seconds: CLAIM_SECONDS,
      isReplaced: true,
    })
    if (row?.isClaimed) return { response: await keepAnswer(sent, row.createdAt, work), isRepeated: false }
    const kept = await findKeptAnswer(sent, end)
    if (kept === 'foreign') return { response: await work(), isRepeated: false }
    if (kept) return { response: kept, isRepeated: true }
  }
  throw new Unavailable('The form is still being processed.')
}

/** The response to the same form of the same browser; null without one. Throws Unavailable, as `answerOnce` does. */
export async function findAnswer(sent: SentForm): Promise<Response | null> {
  const kept = await findKeptAnswer(sent, Date.now() + WAIT_MS)
  return kept === 'foreign' ? null : kept
}

/** Waits for the response to a form; null when there is none, `foreign` when it is that of another browser. */
async function findKeptAnswer(sent: SentForm, end: number): Promise<Response | 'foreign' | null> {
  const { keyHash, requestHash } = toKeys(sent)
  for (let pauseMs = FIRST_PAUSE_MS; Date.now() < end; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const row = await selectIdempotentAnswer(sent.ctx.db, keyHash, requestHash)
    if (!row) return null
    if (row.answer !== null) return openAnswer(sent, keyHash, row.answer) ?? 'foreign'
    await sleep(pauseMs)
  }
  throw new Unavailable('The form is still being processed.')
}

/** Runs the work of a claimed form and keeps its response. An error frees the form. */
async function keepAnswer(sent: SentForm, createdAt: Date, work: () => Promise<Response>): Promise<Response> {
  const claim = { keyHash: toKeys(sent).keyHash, createdAt }
  try {
    const { response, answer } = await sealAnswer(sent, await work())
    await logWriteError(sent, () =>
      answer === null
        ? releaseIdempotencyKey(sent.ctx.db, claim)
        : storeIdempotentResponse(sent.ctx.db, claim, answer, ANSWER_SECONDS),
    )
    return response
  } catch (error) {
    await logWriteError(sent, () => releaseIdempotencyKey(sent.ctx.db, claim))
    throw error
  }
}

/** The work is done: a failure to keep its response is logged and not thrown. */
async function logWriteError({ ctx }: SentForm, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    log.warn({ requestId: ctx.requestId, err: errorMessage(error) }, 'answer of a form')
  }
}

/** Joins the values of the cookies that bind a form; null without the first one. */
const joinBinding = (values: readonly (string | null)[]): string | null =>
  values[0] === null ? null : values.map((value) => value ?? '').join('.')

/** What binds a form to its browser; null in a browser without it. */
const readBinding = ({ cookieNames, cookies }: SentForm): string | null =>
  joinBinding(cookieNames.map((name) => readCookie(cookies, name)))

/** What binds a form after a response, which may set the cookies or end them. */
function readNextBinding({ cookieNames, cookies }: SentForm, headers: Headers): string | null {
  const set = headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '')
  return joinBinding(
    cookieNames.map((name) =>
      readCookie(set.findLast((pair) => pair.startsWith(`${name}=`)) ?? cookies, name),
    ),
  )
}

/** Responses that the same form may not get later: those of limits and of the server. */
const isTransient = (status: number): boolean => status === 429 || status >= 500

/**
 * Seals a response that is kept for its form. Null for one that is transient, too large, beyond the budget of storage, or
 * of a browser without the cookie. Returns the response too, because its body is read.
 */
async function sealAnswer(
  sent: SentForm,
  response: Response,
): Promise<{ response: Response; answer: string | null }> {
  const { ctx } = sent
  const presented = readBinding(sent)
  if (presented === null || isTransient(response.status)) return { response, answer: null }
  const next = readNextBinding(sent, response.headers)
  const body = Buffer.from(await response.arrayBuffer())
  const kept: KeptAnswer = {
    bindings: [presented, ...(next === null ? [] : [next])].map(sha256Base64url),
    status: response.status,
    headers: [...response.headers],
    body: body.toString('base64'),
  }
  const text = JSON.stringify(kept)
  const answer =
    text.length <= MAX_ANSWER_CHARACTERS && !(await takeStorage('formAnswer', ctx, { bytes: text.length }))
      ? seal(toPurpose(ctx.tenant, toKeys(sent).keyHash), text)
      : null
  return { response: toResponse(kept), answer }
}

const toResponse = ({ status, headers, body }: KeptAnswer): Response =>
  new Response(body === '' ? null : Buffer.from(body, 'base64'), { status, headers })

/** Opens a kept response; null for a browser that it does not belong to. */
function openAnswer(sent: SentForm, keyHash: Buffer, answer: string): Response | null {
  const purpose = toPurpose(sent.ctx.tenant, keyHash)
  const kept = JSON.parse(unseal(purpose, answer).toString()) as KeptAnswer
  const presented = readBinding(sent)
  return presented !== null && kept.bindings.includes(sha256Base64url(presented)) ? toResponse(kept) : null
}

/** What a statement keeps that does the work itself. */
export type KeptFields = { keyHash: Buffer; requestHash: Buffer; answer: string | null; seconds: number }

/** Prepares a response for a statement that does the work and keeps the response at once. */
export async function prepareAnswer(
  sent: SentForm,
  made: Response,
): Promise<{ response: Response; kept: KeptFields }> {
  const { response, answer } = await sealAnswer(sent, made)
  return { response, kept: { ...toKeys(sent), answer, seconds: ANSWER_SECONDS } }
}
