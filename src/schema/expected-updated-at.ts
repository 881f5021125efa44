import { Conflict } from '../core/errors.ts'
import { createInstantText } from './input-shapes.ts'

/**
 * Input member of every update: the `updatedAt` that the caller read (optimistic concurrency). This checks
 * the shape only. Services pass the same input to `assertExpectedUpdatedAt` inside the transaction that locks
 * the row.
 */
export const expectedUpdatedAt = createInstantText(
  'must be the updatedAt that was read, such as 2026-01-31T12:00:00.000Z',
)
  .meta({
    description:
      'The updatedAt that the caller read. When it has changed since, nothing is written, and the error is CONFLICT.',
    example: '2026-11-20T09:30:00.000Z',
  })
  .nullish()

/**
 * Throws Conflict when `input` expects another updatedAt than `current`. `current` is read from the locked
 * row, so that one of two concurrent updates that expect the same value fails. Every update moves updatedAt
 * forward by at least a millisecond.
 */
export function assertExpectedUpdatedAt(input: unknown, current: Date): void {
  const expected = (input as { expectedUpdatedAt?: unknown } | null)?.expectedUpdatedAt
  if (typeof expected !== 'string' || !expectedUpdatedAt.safeParse(expected).success) return
  if (Date.parse(expected) !== current.getTime())
    throw new Conflict(
      [{ field: 'expectedUpdatedAt', description: 'is not the current updatedAt' }],
      'The resource has changed since it was read.',
    )
}

/** The updatedAt of a changed row: now, and at least a millisecond after that of the locked one. */
export const moveForward = (current: Date): Date => new Date(Math.max(Date.now(), current.getTime() + 1))
