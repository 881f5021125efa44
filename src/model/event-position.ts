import { InvalidInput } from '../core/errors.ts'

/** A position in the event log, ordered by (era, xid, seq). */
export type Position = { era: number; xid: bigint; seq: bigint }

/** Encodes a position in base64url, for clients. */
export const encodePosition = ({ era, xid, seq }: Position): string =>
  Buffer.from(`${era}.${xid}.${seq}`).toString('base64url')

const MAX_BIGINT = 2n ** 63n - 1n

/**
 * Decodes a position. Throws InvalidInput about `after` for anything that `encodePosition` does not return.
 */
export function decodePosition(text: string): Position {
  const match = /^(\d{1,9})\.(\d{1,19})\.(\d{1,19})$/.exec(Buffer.from(text, 'base64url').toString('latin1'))
  const position = match && { era: Number(match[1]), xid: BigInt(match[2] ?? 0), seq: BigInt(match[3] ?? 0) }
  if (
    !position ||
    position.xid > MAX_BIGINT ||
    position.seq > MAX_BIGINT ||
    encodePosition(position) !== text
  )
    throw createInvalidPositionError()
  return position
}

export const createInvalidPositionError = () =>
  new InvalidInput([{ field: 'after', description: 'is not a position of the event log' }])

/** Compares two positions for a sort: negative when `a` is before `b`. */
export function comparePositions(a: Position, b: Position): number {
  if (a.era !== b.era) return a.era - b.era
  if (a.xid !== b.xid) return a.xid < b.xid ? -1 : 1
  return a.seq === b.seq ? 0 : a.seq < b.seq ? -1 : 1
}
