import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { DELIVERY_METHODS, type StreamStatus } from './signal-types.ts'
import {
  requireUnchanged,
  StatusBody,
  StreamBody,
  toConfiguration,
  VerificationBody,
} from './stream-configuration.ts'
import type { LockedStream } from './streams.sql.ts'
import {
  changeStream,
  createStream,
  deleteStream,
  HIDDEN_COLUMNS,
  replaceFields,
  type SignalStream,
  type StreamFields,
  setStreamStatus,
  verifyStream,
} from './streams.ts'

/** A client that manages its streams. */
export type Receiver = { ctx: Ctx; clientId: string }

type Body = z.output<typeof StreamBody>

/** The fields of a body; a member that is absent has the value in `others`. A stream is polled unless it says otherwise. */
function toFields(body: Body, others: StreamFields): StreamFields {
  const { delivery, description, events_requested } = body
  return {
    ...toDeliveryFields(delivery, others),
    description: description === undefined ? others.description : description,
    eventsRequested: events_requested === undefined ? others.eventsRequested : (events_requested ?? []),
  }
}

/** Another URL loses the header: the stored one is the secret of the former receiver. */
function toDeliveryFields(delivery: Body['delivery'], others: StreamFields) {
  if (delivery === undefined) {
    const { delivery: method, url, authorization } = others
    return { delivery: method, url, authorization }
  }
  if (delivery === null || delivery.method === DELIVERY_METHODS.poll)
    return { delivery: 'poll' as const, url: null, authorization: null }
  const url = String(delivery.endpoint_url)
  const kept = url === others.url ? undefined : null
  return {
    delivery: 'push' as const,
    url,
    authorization: delivery.authorization_header === undefined ? kept : delivery.authorization_header,
  }
}

const NO_FIELDS: StreamFields = {
  delivery: 'poll',
  url: null,
  authorization: null,
  description: null,
  eventsRequested: [],
}

/** The id of the stream that a request is about. Throws InvalidInput. */
export function readStreamId(body: unknown): string {
  const id = isJsonObject(body) ? body.stream_id : undefined
  if (typeof id !== 'string') throw new InvalidInput([{ field: 'stream_id', description: 'is required' }])
  return id
}

/** Creates a stream. Throws InvalidInput and Conflict. */
export async function createOwnStream({ ctx, clientId }: Receiver, body: unknown): Promise<object> {
  const stream = await createStream(ctx, clientId, toFields(parseInput(StreamBody, body), NO_FIELDS))
  requireOwn(stream, clientId)
  return toConfiguration(ctx.tenant, stream)
}

function requireOwn<Stream extends { clientId: string }>(stream: Stream | null, clientId: string): Stream {
  if (stream?.clientId !== clientId) throw new NotFound('stream')
  return stream
}

/** A stream of the client. Throws NotFound, also for that of another one. */
export async function findOwnStream({ ctx, clientId }: Receiver, id: string): Promise<SignalStream> {
  const stream = await ctx.db.prisma.signalStream.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id } },
    omit: HIDDEN_COLUMNS,
  })
  return requireOwn(stream, clientId)
}

/** One stream of the client, or a list of all. Throws NotFound. */
export async function readOwnStreams(receiver: Receiver, id: string | null): Promise<object> {
  const { ctx, clientId } = receiver
  if (id !== null) return toConfiguration(ctx.tenant, await findOwnStream(receiver, id))
  const streams = await ctx.db.prisma.signalStream.findMany({
    where: { tenantId: ctx.tenant, clientId },
    orderBy: { id: 'asc' },
    omit: HIDDEN_COLUMNS,
  })
  return streams.map((stream) => toConfiguration(ctx.tenant, stream))
}

const toStoredFields = ({ delivery, url, description, eventsRequested }: LockedStream): StreamFields => ({
  delivery: delivery === 'push' ? 'push' : 'poll',
  url,
  authorization: undefined,
  description,
  eventsRequested,
})

/**
 * Changes a stream: with `isWhole`, members that are absent are removed (PUT), otherwise they are unchanged (PATCH). Throws
 * InvalidInput and NotFound.
 */
export function changeOwnStream(
  { ctx, clientId }: Receiver,
  body: unknown,
  { isWhole }: { isWhole: boolean },
): Promise<object> {
  const given = parseInput(StreamBody, body)
  return changeStream(ctx, readStreamId(body), clientId, async (tx, current) => {
    requireUnchanged(body, toConfiguration(ctx.tenant, current))
    const stored = toStoredFields(current)
    const absent = isWhole ? { delivery: null, description: null, events_requested: null } : {}
    const stream = await replaceFields(tx, ctx, current, toFields({ ...absent, ...given }, stored))
    return toConfiguration(ctx.tenant, stream)
  })
}

export const deleteOwnStream = ({ ctx, clientId }: Receiver, id: string) => deleteStream(ctx, id, clientId)

const toStatus = ({ id, status, statusReason }: SignalStream): object => ({
  stream_id: id,
  status,
  ...(statusReason !== null && { reason: statusReason }),
})

/** The status of a stream (SSF 1.0, section 8.1.2.1). Throws NotFound. */
export const readStatus = async (receiver: Receiver, id: string): Promise<object> =>
  toStatus(await findOwnStream(receiver, id))

/** Changes the status of a stream (SSF 1.0, section 8.1.2.2). Throws InvalidInput and NotFound. */
export function changeStatus({ ctx, clientId }: Receiver, body: unknown): Promise<object> {
  const { status, reason } = parseInput(StatusBody, body)
  return changeStream(ctx, readStreamId(body), clientId, async (tx, current) => {
    const change = { status: status as StreamStatus, reason }
    return toStatus(await setStreamStatus(tx, ctx, current, change, { isAnnounced: false }))
  })
}

/** Sends a verification event (SSF 1.0, section 8.1.4.2). Throws InvalidInput, NotFound, Conflict and RateLimited. */
export async function requestVerification({ ctx, clientId }: Receiver, body: unknown): Promise<void> {
  const { state = null } = parseInput(VerificationBody, body)
  await verifyStream(ctx, readStreamId(body), { clientId, state })
}
