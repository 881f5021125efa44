import { requireScope } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { SignalStreamPatch, SignalStreamVerification } from './streams.fields.ts'
import { changeStream, deleteStream, type SignalStream, setStreamStatus, verifyStream } from './streams.ts'

/**
 * Changes the status of a stream, about which its receiver gets an event, and whose events it has. Throws InvalidInput,
 * Forbidden without events:read for those of all users, and NotFound.
 */
export async function updateSignalStream(ctx: Ctx, id: string, input: unknown): Promise<SignalStream> {
  const { status, statusReason: reason, allUsers } = parseInput(SignalStreamPatch, input)
  if (allUsers) requireScope(ctx, 'events:read')
  return changeStream(ctx, id, null, (tx, current) =>
    setStreamStatus(tx, ctx, current, { status, reason, allUsers }, { isAnnounced: true }),
  )
}

/** Sends a verification event to a stream. Throws InvalidInput, NotFound, Conflict and RateLimited. */
export async function verifySignalStream(ctx: Ctx, id: string, input: unknown = {}): Promise<SignalStream> {
  parseInput(SignalStreamVerification, input)
  return verifyStream(ctx, id, { clientId: null, state: null })
}

/** Deletes a stream with the events that wait. Throws NotFound. */
export const deleteSignalStream = (ctx: Ctx, id: string) => deleteStream(ctx, id, null)
