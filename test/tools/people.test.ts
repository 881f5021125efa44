import { describe, expect, test } from 'vitest'
import { parseInput } from '../../src/schema/input-shapes.ts'
import { UserLine } from '../../src/users/transfer/import.fields.ts'
import { toUserColumns } from '../../src/users/user-body.ts'
import { createPeople, type SeedOptions } from '../../tools/seed/people.ts'
import type { Json } from '../support/json.ts'

const UNTIL = new Date('2026-11-20T00:00:00Z')
const options = (users: number, randomSeed = 1): SeedOptions => ({
  users,
  sessions: users / 2,
  randomSeed,
  clientIds: ['client_a'],
  until: UNTIL,
})

describe('seeded people', () => {
  test('are the same for the same seed, and differ for another', () => {
    const [first, again, other] = [1, 1, 2].map((seed) => [...createPeople(options(200, seed))])
    expect(again).toEqual(first)
    expect(other?.[0]).not.toEqual(first?.[0])
  })

  test('are created in the order of their ids, and before their sessions and changes', () => {
    const people = [...createPeople(options(500))]
    const ids = people.map(({ user }) => user.id)
    expect([...new Set(ids)].sort()).toEqual(ids)
    for (const { user, sessions } of people as Json[]) {
      for (const at of [
        user.lastSeenAt,
        user.updatedAt,
        ...sessions.map((session: Json) => session.createdAt),
      ])
        if (at) expect(at.getTime()).toBeGreaterThanOrEqual(user.createdAt.getTime())
      expect(user.createdAt.getTime()).toBeLessThan(UNTIL.getTime())
    }
  })

  test('have the values that the management API stores for the same input', () => {
    for (const { user } of createPeople(options(2000)) as Iterable<Json>) {
      const { addressLocality, addressCountry, emailKey, phoneNumberKey, roles, hasCredential, ...fields } =
        user
      const line = parseInput(UserLine, fields)
      const {
        id,
        lockedAt,
        termsVersion,
        termsAcceptedAt,
        lastSeenAt,
        updatedAt,
        createdAt,
        externalId,
        ...written
      } = line
      expect(toUserColumns(written)).toMatchObject({
        emailKey,
        phoneNumberKey,
        email: user.email,
        locale: user.locale,
      })
      expect([roles, typeof hasCredential]).toEqual([[], 'boolean'])
    }
  })
})
