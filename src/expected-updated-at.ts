import { z } from 'zod'
import { Conflict } from './errors.ts'

/**
 * Member of the input of every change: the `updatedAt` that the caller read. Only its shape is checked here; services
 * hand the same input to `assertExpected` inside the transaction that holds the row.
 */
export const expectedUpdatedAt = z.iso
  .datetime({ offset: true, error: 'must be the updatedAt that was read, such as 2026-01-31T12:00:00.000Z' })
  .meta({
    description: 'The updatedAt that was read: when somebody changed it since, nothing is written (409).',
    example: '2026-11-20T09:30:00.000Z',
  })
  .nullish()

/** The same for GraphQL, beside `fields`. */
export const EXPECTED_UPDATED_AT =
  'The updatedAt that was read: when somebody changed it since, nothing is written and the answer is a ConflictError.'

/**
 * Throws Conflict when `input` expects another updatedAt than `current`. Call it on the row as it is while it is held, so
 * that of two changes that expect the same, one wins. Every change moves updatedAt forward by at least a millisecond.
 */
export function assertExpected(input: unknown, current: Date): void {
  const expected = (input as { expectedUpdatedAt?: unknown } | null)?.expectedUpdatedAt
  if (typeof expected !== 'string' || !expectedUpdatedAt.safeParse(expected).success) return
  if (Date.parse(expected) !== current.getTime())
    throw new Conflict(
      [{ field: 'expectedUpdatedAt', description: 'is not its updatedAt any more' }],
      'It was changed since it was read.',
    )
}
