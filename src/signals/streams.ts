import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix, seal } from '../core/crypto.ts'
import { Conflict, NotFound, RateLimited } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import { announceInsertion } from '../database/insertions.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { MAX_WAITING } from '../events/follow-log.sql.ts'
import { readHead, recordEvents } from '../events/log.ts'
import type { Prisma, SignalStream as Row } from '../generated/prisma/client.ts'
import { encodePosition } from '../model/event-position.ts'
import { moveForward } from '../schema/expected-updated-at.ts'
import type { PageArgs } from '../schema/page.ts'
import { SIGNALS, type StreamStatus } from './signal-types.ts'
import { MIN_VERIFICATION_SECONDS } from './stream-configuration.ts'
import {
  insertStreamToken,
  type LockedStream,
  lockStream,
  lockTenantForStreams,
  wakeTokens,
} from './streams.sql.ts'
import { createStreamToken } from './tokens.ts'

const MAX_STREAMS = { client: 4, tenant: 200 }

export const HIDDEN_COLUMNS = { tenantId: true, authorization: true } as const
/** A stream, without its secret. */
export type SignalStream = Omit<Row, keyof typeof HIDDEN_COLUMNS>

/** The purpose of the sealed header. Moved to another stream or tenant, it cannot be decrypted. */
export const toAuthorizationPurpose = (tenant: string, streamId: string): string =>
  `signals:${tenant}:${streamId}:authorization`

/** What a receiver chooses. An undefined `authorization` keeps the one that is stored, null removes it. */
export type StreamFields = {
  delivery: 'push' | 'poll'
  url: string | null
  authorization: string | null | undefined
  description: string | null
  eventsRequested: string[]
}

const toColumns = (tenant: string, id: string, { authorization, ...fields }: StreamFields) => ({
  ...fields,
  ...(authorization !== undefined && {
    authorization: authorization === null ? null : seal(toAuthorizationPurpose(tenant, id), authorization),
  }),
})

/** Lets this process follow the log for a stream at once; others find it within seconds. */
const announceFollower = (tx: Tx): void =>
  tx.afterCommit('follow the log for a stream', () => announceInsertion('SignalStream', tx.tenant))

/** Throws Conflict when the client or the tenant has too many streams. */
async function requireRoom({ prisma, tenant }: Tx, clientId: string): Promise<void> {
  if ((await prisma.signalStream.count({ where: { tenantId: tenant, clientId } })) >= MAX_STREAMS.client)
    throw new Conflict([], `A client has at most ${MAX_STREAMS.client} streams.`)
  if ((await prisma.signalStream.count({ where: { tenantId: tenant } })) >= MAX_STREAMS.tenant)
    throw new Conflict([], `A tenant has at most ${MAX_STREAMS.tenant} streams.`)
}

/** Creates a stream of a client, which gets the events from now on. Throws Conflict when there are too many. */
export async function createStream(ctx: Ctx, clientId: string, fields: StreamFields): Promise<SignalStream> {
  const id = newId('stream')
  const { head } = await readHead(ctx.db)
  return ctx.db.transaction(async (tx) => {
    await lockTenantForStreams(tx)
    await requireRoom(tx, clientId)
    announceFollower(tx)
    await recordEvents(tx, ctx, [createEvent('signal_stream.created', { signalStreamId: id, clientId })])
    return tx.prisma.signalStream.create({
      data: {
        ...toColumns(ctx.tenant, id, fields),
        tenantId: ctx.tenant,
        id,
        clientId,
        position: encodePosition(head),
      } as Prisma.SignalStreamUncheckedCreateInput,
      omit: HIDDEN_COLUMNS,
    })
  })
}

/** The streams of the tenant with these ids, in any order. */
export const findStreams = ({ prisma, tenant }: Db, ids: string[]): Promise<SignalStream[]> =>
  prisma.signalStream.findMany({ where: { tenantId: tenant, id: { in: ids } }, omit: HIDDEN_COLUMNS })

/** Returns a stream. Throws NotFound. */
export async function getSignalStream(ctx: Ctx, id: string): Promise<SignalStream> {
  const [stream] = readIdPrefix(id) === 'stream' ? await findStreams(ctx.db, [id]) : []
  if (!stream) throw new NotFound('stream')
  return stream
}

/** What cursors of the list of streams are bound to. */
export const toStreamListName = (tenant: string): string => `${tenant}:signal-streams`

/** The streams of the tenant, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listSignalStreams(ctx: Ctx, args: PageArgs) {
  const { signalStream } = ctx.db.prisma
  const isListed = { tenantId: ctx.tenant }
  return listInOrder(ctx, args, {
    name: toStreamListName(ctx.tenant),
    column: 'id',
    read: (page) =>
      signalStream.findMany({ ...page, where: { ...isListed, ...page.where }, omit: HIDDEN_COLUMNS }),
    countAll: () => signalStream.count({ where: isListed }),
  })
}

/** Changes a stream whose row is locked; with `clientId`, only one of this client. Throws NotFound. */
export const changeStream = <Result>(
  ctx: Ctx,
  id: string,
  clientId: string | null,
  change: (tx: Tx, current: LockedStream) => Promise<Result>,
): Promise<Result> =>
  ctx.db.transaction(async (tx) => {
    const current = readIdPrefix(id) === 'stream' ? await lockStream(tx, id) : null
    if (!current || (clientId !== null && current.clientId !== clientId)) throw new NotFound('stream')
    return change(tx, current)
  })

const updateRow = (
  { prisma, tenant }: Tx,
  { id, updatedAt }: LockedStream,
  data: Prisma.SignalStreamUncheckedUpdateInput,
): Promise<SignalStream> =>
  prisma.signalStream.update({
    where: { tenantId_id: { tenantId: tenant, id } },
    data: { ...data, updatedAt: moveForward(updatedAt) },
    omit: HIDDEN_COLUMNS,
  })

/** Changes what the receiver chose, of a locked stream. A receiver that was mended is tried at once. */
export async function replaceFields(
  tx: Tx,
  ctx: Ctx,
  current: LockedStream,
  fields: StreamFields,
): Promise<SignalStream> {
  const { id: signalStreamId, clientId } = current
  // The header is given again: whether it differs is not compared with the sealed one.
  const { authorization, ...others } = fields
  const changedFields = Object.entries(others).flatMap(([name, value]) =>
    isDeepStrictEqual(value, current[name as keyof typeof others]) ? [] : name,
  )
  if (authorization !== undefined && authorization !== current.authorization)
    changedFields.push('authorization')
  if (changedFields.length > 0)
    await recordEvents(tx, ctx, [
      createEvent('signal_stream.updated', { signalStreamId, clientId, changedFields }),
    ])
  await wakeTokens(tx, signalStreamId)
  announceFollower(tx)
  return updateRow(tx, current, { ...toColumns(ctx.tenant, signalStreamId, fields), failingSince: null })
}

/** A change by an administrator or, of the status, by the receiver. */
export type StreamChange = {
  status?: StreamStatus | undefined
  reason?: string | null | undefined
  allUsers?: boolean | undefined
}

/**
 * Changes the status of a locked stream, and whose events it has. One that is disabled drops what waits, and begins anew at
 * the end of the log; one that is paused keeps it. With `isAnnounced`, the receiver gets an event about it (SSF 1.0, section
 * 8.1.5).
 */
export async function setStreamStatus(
  tx: Tx,
  ctx: Ctx,
  current: LockedStream,
  { status = current.status as StreamStatus, reason = null, allUsers = current.allUsers }: StreamChange,
  { isAnnounced }: { isAnnounced: boolean },
): Promise<SignalStream> {
  const { id, clientId } = current
  const isChanged = status !== current.status
  const statusReason = isChanged ? reason : (reason ?? current.statusReason)
  const next = { status, allUsers, statusReason }
  const changedFields = Object.entries(next).flatMap(([name, value]) =>
    value === current[name as keyof typeof next] ? [] : name,
  )
  if (changedFields.length > 0) {
    const subjects = { signalStreamId: id, clientId, changedFields }
    await recordEvents(tx, ctx, [
      createEvent('signal_stream.updated', subjects, isChanged ? { status } : null),
    ])
  }
  if (!isChanged) return updateRow(tx, current, { allUsers, statusReason })
  if (status === 'disabled')
    await tx.prisma.signalToken.deleteMany({ where: { tenantId: ctx.tenant, streamId: id } })
  if (isAnnounced)
    await insertStreamToken(
      tx,
      id,
      createStreamToken(id, SIGNALS.streamUpdated, { status, ...(reason && { reason }) }),
    )
  if (status === 'enabled') {
    await wakeTokens(tx, id)
    announceFollower(tx)
  }
  const isBegun = status === 'enabled' && current.status === 'disabled'
  return updateRow(tx, current, {
    allUsers,
    status,
    statusReason,
    ...(status === 'enabled' && { failingSince: null }),
    ...(isBegun && { position: encodePosition((await readHead(tx)).head) }),
  })
}

/**
 * Sends a verification event to a stream (SSF 1.0, section 8.1.4), with the state of the receiver if there is one. Throws
 * NotFound, Conflict for a stream that is not enabled or whose events wait, and RateLimited.
 */
export const verifyStream = (
  ctx: Ctx,
  id: string,
  { clientId, state }: { clientId: string | null; state: string | null },
): Promise<SignalStream> =>
  changeStream(ctx, id, clientId, async (tx, current) => {
    if (current.status !== 'enabled') throw new Conflict([], `The stream is ${current.status}.`)
    const waitMs = (current.verifiedAt?.getTime() ?? 0) + MIN_VERIFICATION_SECONDS * 1000 - Date.now()
    if (waitMs > 0) throw new RateLimited(Math.ceil(waitMs / 1000))
    const waiting = await tx.prisma.signalToken.count({ where: { tenantId: ctx.tenant, streamId: id } })
    if (waiting > MAX_WAITING.follower) throw new Conflict([], 'Too many events of the stream wait.')
    await insertStreamToken(
      tx,
      id,
      createStreamToken(id, SIGNALS.verification, state === null ? {} : { state }),
    )
    const about = { signalStreamId: id, clientId: current.clientId }
    await recordEvents(tx, ctx, [createEvent('signal_stream.verified', about)])
    return updateRow(tx, current, { verifiedAt: new Date() })
  })

/** Deletes a stream with the events that wait. Throws NotFound. */
export const deleteStream = (
  ctx: Ctx,
  id: string,
  clientId: string | null,
): Promise<{ deletedSignalStreamId: string }> =>
  changeStream(ctx, id, clientId, async (tx, current) => {
    await tx.prisma.signalStream.delete({ where: { tenantId_id: { tenantId: ctx.tenant, id } } })
    const about = { signalStreamId: id, clientId: current.clientId }
    await recordEvents(tx, ctx, [createEvent('signal_stream.deleted', about)])
    return { deletedSignalStreamId: id }
  })
