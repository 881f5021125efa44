import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { ReadLimit } from '../../src/core/network/read-limit.ts'
import type { ListArgs } from '../../src/schema/page.ts'
import type { UserOrderField } from '../../src/users/list/user-filter.fields.ts'
import { buildUserPageStatement, countFromEnd } from '../../src/users/list/user-list.sql.ts'
import { listUsers } from '../../src/users/list/user-list.ts'
import { selectUserList } from '../../src/users/list/user-list-plans.ts'
import { sql } from '../support/database.ts'
import { test } from '../support/fixtures.ts'
import { toIds, walkByCursor } from '../support/user-pages.ts'

/** The ids of all pages by number. */
async function walkByPage(ctx: Ctx, args: ListArgs, pageSize: number): Promise<string[]> {
  const ids: string[] = []
  for (let page = 0; page < 100; page += 1) {
    const { hasNextPage, ...rest } = await listUsers(ctx, { ...args, page, pageSize })
    ids.push(...toIds(rest))
    if (!hasNextPage) return ids
  }
  throw new Error('the list has no end')
}

/** The ids of all pages by number of all users in an order, each read from the end of the list. */
async function walkFromEnd(
  { tenant, db }: Ctx,
  { orderBy, descending }: { orderBy: UserOrderField; descending: boolean },
  { pageSize, users }: { pageSize: number; users: number },
): Promise<string[]> {
  const ids: string[] = []
  for (let page = 0; page * pageSize <= users; page += 1) {
    const limit = new ReadLimit(undefined, pageSize)
    const rows = await db.list(
      buildUserPageStatement(
        tenant,
        { list: selectUserList({}, orderBy), filter: {}, descending },
        { mode: 'offset', page, pageSize, isNumbered: true, limit },
        'keys',
        countFromEnd({ offset: page * pageSize, limit: pageSize + 1 }, users),
      ),
    )
    ids.push(...rows.slice(0, pageSize).map(({ id }) => id))
  }
  return ids
}

type ListedPerson = {
  name: string | null
  email: boolean
  locked: boolean
  emailVerified: boolean
  phoneNumberVerified: boolean
  hasCredential: boolean
  linked: boolean
  createdAt: number
  updatedAt: number
  lastSeenAt: number | null
  plan: string | null
}
type ListedUser = ListedPerson & { id: string; emailKey: string | null }

const DAY = 86_400_000
const START = Date.parse('2026-03-01T00:00:00.001Z')
const at = (day: number): string => new Date(START + day * DAY).toISOString()

const listedPerson: fc.Arbitrary<ListedPerson> = fc.record({
  name: fc.option(
    fc.constantFrom('Anna', 'ANNA', 'Änna Ann', 'anna petrova', 'Łukasz', 'Zoë', 'zoe ann', ''),
  ),
  email: fc.boolean(),
  locked: fc.boolean(),
  emailVerified: fc.boolean(),
  phoneNumberVerified: fc.boolean(),
  hasCredential: fc.boolean(),
  linked: fc.boolean(),
  createdAt: fc.nat(2),
  updatedAt: fc.nat(2),
  lastSeenAt: fc.option(fc.nat(2)),
  plan: fc.option(fc.constantFrom('free', 'pro')),
})

/** Replaces the users of the tenant; their ids are not in the order of the array. */
async function replaceUsers(tenant: string, people: ListedPerson[]): Promise<ListedUser[]> {
  const rows = people.map((one, index): ListedUser => {
    const id = `user_${String((index * 7) % 100).padStart(26, '0')}`
    return { ...one, id, emailKey: one.email ? `p${(index * 3) % 50}@example.com` : null }
  })
  await sql(`DELETE FROM "User" WHERE "tenantId" = $1`, [tenant])
  await sql(
    `INSERT INTO "User" ("tenantId", "id", "name", "email", "emailKey", "locked", "emailVerified", "phoneNumberVerified",
       "hasCredential", "createdAt", "updatedAt", "lastSeenAt", "appMetadata")
     SELECT $1, r.* FROM jsonb_to_recordset($2::jsonb) AS r("id" TEXT, "name" TEXT, "email" TEXT, "emailKey" TEXT, "locked" BOOLEAN,
       "emailVerified" BOOLEAN, "phoneNumberVerified" BOOLEAN, "hasCredential" BOOLEAN, "createdAt" TIMESTAMPTZ,
       "updatedAt" TIMESTAMPTZ, "lastSeenAt" TIMESTAMPTZ, "appMetadata" JSONB)`,
    [
      tenant,
      JSON.stringify(
        rows.map((row) => ({
          ...row,
          email: row.emailKey,
          createdAt: at(row.createdAt),
          updatedAt: at(row.updatedAt),
          lastSeenAt: row.lastSeenAt === null ? null : at(row.lastSeenAt),
          appMetadata: row.plan ? { plan: row.plan } : {},
        })),
      ),
    ],
  )
  await sql(
    `INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "externalId") SELECT $1, 'idpuser_' || id, id, 'acme', id FROM unnest($2::text[]) id`,
    [tenant, rows.filter(({ linked }) => linked).map(({ id }) => id)],
  )
  return rows
}

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll('ł', 'l')
const wordsOf = ({ name, emailKey }: ListedUser): string[] => [
  ...new Set(
    [...fold(`${name ?? ''} ${emailKey?.split('@')[0] ?? ''}`).split(' '), emailKey ?? ''].filter(Boolean),
  ),
]
const compare = <T extends string | number>(one: T, other: T): number =>
  one < other ? -1 : one > other ? 1 : 0

/**
 * Arguments of a list, the users that belong to it, and the value that orders them; `by` is null for an
 * unspecified order.
 */
type ListCase = {
  args: ListArgs
  has: (row: ListedUser) => boolean
  by: ((row: ListedUser) => string | number | null) | null
}

const ORDERS: Record<string, (row: ListedUser) => string | number | null> = {
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  lastSeenAt: ({ lastSeenAt }) => lastSeenAt,
  email: ({ emailKey }) => emailKey,
  name: ({ name }) => (name === null ? null : fold(name)),
}
const isAnyone = () => true
const byId = ({ id }: ListedUser) => id

const flags = fc
  .record(
    {
      locked: fc.boolean(),
      emailVerified: fc.boolean(),
      phoneNumberVerified: fc.boolean(),
      hasCredential: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .map(
    (filter): ListCase => ({
      args: { filter },
      has: (row) => Object.entries(filter).every(([flag, value]) => row[flag as 'locked'] === value),
      by: byId,
    }),
  )
const ranges = fc
  .tuple(fc.constantFrom('createdAt', 'updatedAt', 'lastSeenAt'), fc.option(fc.nat(2)), fc.option(fc.nat(3)))
  .map(
    ([member, from, before]): ListCase => ({
      args: {
        filter: {
          [member]: { gte: from === null ? null : at(from), lt: before === null ? null : at(before) },
        },
      },
      has: (row) => {
        const value = row[member as 'lastSeenAt']
        if (from === null && before === null) return true
        return value !== null && (from === null || value >= from) && (before === null || value < before)
      },
      by: from === null && before === null ? byId : (ORDERS[member] as ListCase['by']),
    }),
  )
const searches = fc
  .tuple(
    fc.constantFrom('a', 'ann', 'anna', 'zoë', 'p1', 'an p', 'ann an petr', 'p2@example', 'zo a', 'lukas'),
    fc.option(fc.boolean()),
    fc.option(fc.constantFrom('free', 'pro')),
    fc.option(fc.constant('acme')),
    fc.option(fc.constantFrom(...Object.keys(ORDERS))),
  )
  .map(([search, locked, plan, idpId, orderBy]): ListCase => {
    const wanted = fold(search).split(' ')
    const [only] = wanted
    return {
      args: { filter: { search, locked, idpId, appMetadata: plan && { plan } }, orderBy },
      has: (row) =>
        wanted.every((word) => wordsOf(row).some((one) => one.startsWith(word))) &&
        (locked === null || row.locked === locked) &&
        (plan === null || row.plan === plan) &&
        (idpId === null || row.linked),
      by:
        ORDERS[orderBy ?? ''] ??
        (wanted.length > 1
          ? null
          : (row) =>
              wordsOf(row)
                .filter((one) => one.startsWith(only ?? ''))
                .sort(compare)[0] ?? null),
    }
  })
const listCase: fc.Arbitrary<ListCase> = fc.oneof(
  fc.constant({ args: {}, has: isAnyone, by: byId }),
  fc
    .constantFrom(...Object.keys(ORDERS))
    .map((orderBy): ListCase => ({ args: { orderBy }, has: isAnyone, by: ORDERS[orderBy] ?? null })),
  flags,
  ranges,
  searches,
  fc.constant({ args: { filter: { idpId: 'acme' } }, has: ({ linked }: ListedUser) => linked, by: byId }),
  fc.constant({
    args: { filter: { appMetadata: { plan: 'pro' } } },
    has: ({ plan }: ListedUser) => plan === 'pro',
    by: byId,
  }),
  fc.constant({
    args: { filter: { email: 'P3@example.com', search: 'p' }, orderBy: 'name' },
    has: ({ emailKey }: ListedUser) => emailKey === 'p3@example.com',
    by: byId,
  }),
)

/** The ids of a list, computed in memory. */
function computeIds(rows: ListedUser[], { has, by }: ListCase, direction: string): string[] {
  const way = direction === 'desc' ? -1 : 1
  return rows
    .filter(has)
    .sort((one, other) => {
      const [a, b] = [by?.(one) ?? null, by?.(other) ?? null]
      if ((a === null) !== (b === null)) return a === null ? 1 : -1
      return way * (a === null || b === null || a === b ? compare(one.id, other.id) : compare(a, b))
    })
    .map(({ id }) => id)
}

describe('every list of users', () => {
  test('returns each of its users once, in order, by cursor in both directions and by page, and counts them', async ({
    tenant,
    ctx,
  }) => {
    await sql(
      `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, 'acme', 'oidc', 'Acme')`,
      [tenant],
    )
    const lists = fc.array(fc.tuple(listCase, fc.constantFrom('asc', 'desc')), { minLength: 6, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(listedPerson, { maxLength: 25 }),
        lists,
        fc.integer({ min: 1, max: 9 }),
        async (people, all, size) => {
          const rows = await replaceUsers(tenant, people)
          for (const [one, direction] of all) {
            const args = { ...one.args, direction }
            const forward = await walkByCursor(ctx, args, size)
            const wanted = computeIds(rows, one, direction)
            // A search by several words is ordered by the rarest of them, which the model does not know.
            if (one.by) expect(forward).toEqual(wanted)
            else expect(forward.toSorted()).toEqual(wanted.toSorted())
            expect(await walkByCursor(ctx, args, size, true)).toEqual(forward)
            expect(await walkByPage(ctx, args, size)).toEqual(forward)
            expect(await (await listUsers(ctx, args)).countAll()).toBe(wanted.length)
            if (one.has !== isAnyone || !args.orderBy) continue
            const order = { orderBy: args.orderBy as UserOrderField, descending: direction === 'desc' }
            expect(await walkFromEnd(ctx, order, { pageSize: size, users: rows.length })).toEqual(forward)
          }
        },
      ),
      { numRuns: 25 },
    )
  })
})
