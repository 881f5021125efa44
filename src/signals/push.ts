import { createPlatformCtx } from '../context/context.ts'
import { unseal } from '../core/crypto.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { log } from '../core/log.ts'
import { FetchError, guardedFetch } from '../core/network/fetcher.ts'
import { type OutboxLimits, startOutbox } from '../delivery/outbox/outbox.ts'
import { createEvent } from '../events/create-event.ts'
import { createEventRow } from '../events/log.ts'
import { toAuthorizationPurpose } from './streams.ts'
import { finishTokens, giveUpToken, PUSH_CLAIM, type PushedToken, postponeToken } from './tokens.sql.ts'
import { signToken } from './tokens.ts'

const LIMITS: OutboxLimits = { total: 32, perRecipient: 8 }
/** A receiver that answers again gets its events within this time. */
const MAX_PAUSE_SECONDS = 600
/** Bytes of an answer that are read: an error (RFC 8935, section 2.3). */
const KEPT_BYTES = 2048
const MAX_ERROR_LENGTH = 300

/** What the receiver answered. `rejection` is the error by which it rejects the token itself. */
type PushAnswer = { status: number | null; fault: string | null; rejection: string | null }

const isAccepted = ({ status, rejection }: PushAnswer): boolean =>
  rejection !== null || (status !== null && status >= 200 && status < 300)

/** The receiver itself fails, as opposed to one that rejects a token. */
const isFault = ({ status }: PushAnswer): boolean => status === null || status >= 500 || status === 429

const toErrorText = ({ status, fault, rejection }: PushAnswer): string =>
  rejection ?? (fault ? `The receiver could not be asked: ${fault}.` : `The receiver answered ${status}.`)

/** The error of a receiver that can never accept the token (RFC 8935, section 2.4); null for another answer. */
function readRejection(status: number, bytes: ArrayBuffer): string | null {
  if (status !== 400) return null
  try {
    const body: unknown = JSON.parse(Buffer.from(bytes).toString())
    if (!isJsonObject(body) || typeof body.err !== 'string') return null
    return toStoredError(body.err, body.description)
  } catch {
    return null
  }
}

/** An error that a receiver reports, as it is stored and shown: bounded, without control characters. */
export const toStoredError = (err: unknown, description: unknown): string =>
  [err, description]
    .filter((part) => typeof part === 'string')
    .join(': ')
    .replace(/[\p{C}\s]+/gu, ' ')
    .slice(0, MAX_ERROR_LENGTH)

/**
 * Pushes a token (RFC 8935, section 2.1) within ten seconds, to public addresses only, without following redirects. Never
 * throws.
 */
async function pushToken(token: PushedToken, signal: AbortSignal): Promise<PushAnswer | null> {
  const { tenantId, recipientId, url, authorization } = token
  if (url === null) return null
  try {
    const purpose = toAuthorizationPurpose(tenantId, recipientId)
    const response = await guardedFetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/secevent+jwt',
        accept: 'application/json',
        ...(authorization && { authorization: unseal(purpose, authorization).toString() }),
      },
      body: await signToken(tenantId, token),
      keepBytes: KEPT_BYTES,
      signal,
    })
    const rejection = readRejection(response.status, await response.arrayBuffer())
    return { status: response.status, fault: null, rejection }
  } catch (error) {
    const fault = error instanceof FetchError ? error.kind : 'internal'
    if (fault === 'internal') log.error({ err: error, signalStreamId: recipientId }, 'cannot push a token')
    return { status: null, fault, rejection: null }
  }
}

const toRow = (tenant: string, type: 'signal_stream.recovered' | 'signal_stream.disabled'): object =>
  createEventRow(createPlatformCtx(tenant), createEvent(type, null))

/** Pushes the tokens of the streams of all tenants. The returned function stops it and resolves when no attempt is running. */
export const startSignalDeliveries = (): (() => Promise<void>) =>
  startOutbox<PushedToken, PushAnswer>({
    name: 'signals',
    limits: LIMITS,
    store: {
      ...PUSH_CLAIM,
      accept: (db, accepted) => {
        const rejections = accepted.flatMap(({ answer: { rejection } }) => rejection ?? [])
        return finishTokens(db, {
          ids: accepted.map(({ message: { id } }) => id),
          error: rejections.at(-1) ?? null,
          isAccepted: rejections.length < accepted.length,
          events: [toRow(db.tenant, 'signal_stream.recovered')],
        })
      },
      finish: (db, { id }, end) =>
        end === null
          ? finishTokens(db, { ids: [id], error: null, isAccepted: false, events: [] })
          : giveUpToken(db, {
              id,
              error: toErrorText(end.answer),
              events: [toRow(db.tenant, 'signal_stream.disabled')],
            }),
      postpone: (db, { tenantId, id, attempts }, { answer, pauseSeconds, isAborted }) => {
        const { status, fault } = answer
        const failing = createEvent('signal_stream.failing', null, { status, fault })
        return postponeToken(db, {
          id,
          attempts,
          pauseSeconds: Math.min(pauseSeconds, MAX_PAUSE_SECONDS),
          isFault: isFault(answer) && !isAborted,
          error: toErrorText(answer),
          events: [createEventRow(createPlatformCtx(tenantId), failing)],
        })
      },
    },
    send: pushToken,
    isAccepted,
  })
