import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Ctx } from '../src/ctx.ts'
import { sql } from '../src/db.ts'
import type { User } from '../src/generated/prisma/client.ts'
import type { Page } from '../src/page.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { type ListUsersArgs, listUsers } from '../src/users/user-list.ts'
import { createUser, deleteUser } from '../src/users/users.ts'
import { ctxFor, newTenant } from './support/actors.ts'

let ctx: Ctx
beforeAll(async () => {
  await openRuntime()
  ctx = await ctxFor(await newTenant())
  await sql(
    `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, 'acme', 'oidc', 'Acme')`,
    [ctx.tenant],
  )
})
afterAll(() => closeRuntime())

type Person = {
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
type Row = Person & { id: string; emailKey: string | null }

const DAY = 86_400_000
const START = Date.parse('2026-03-01T00:00:00.001Z')
const at = (day: number): string => new Date(START + day * DAY).toISOString()

const person: fc.Arbitrary<Person> = fc.record({
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

/** Replaces the users of the tenant; ids do not follow the order of the people. */
async function fill(people: Person[]): Promise<Row[]> {
  const rows = people.map((one, index): Row => {
    const id = `user_${String((index * 7) % 100).padStart(26, '0')}`
    return { ...one, id, emailKey: one.email ? `p${(index * 3) % 50}@example.com` : null }
  })
  await sql(`DELETE FROM "User" WHERE "tenantId" = $1`, [ctx.tenant])
  await sql(
    `INSERT INTO "User" ("tenantId", "id", "name", "email", "emailKey", "locked", "emailVerified", "phoneNumberVerified",
       "hasCredential", "createdAt", "updatedAt", "lastSeenAt", "appMetadata")
     SELECT $1, r.* FROM jsonb_to_recordset($2::jsonb) AS r("id" TEXT, "name" TEXT, "email" TEXT, "emailKey" TEXT, "locked" BOOLEAN,
       "emailVerified" BOOLEAN, "phoneNumberVerified" BOOLEAN, "hasCredential" BOOLEAN, "createdAt" TIMESTAMPTZ,
       "updatedAt" TIMESTAMPTZ, "lastSeenAt" TIMESTAMPTZ, "appMetadata" JSONB)`,
    [
      ctx.tenant,
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
    [ctx.tenant, rows.filter(({ linked }) => linked).map(({ id }) => id)],
  )
  return rows
}

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll('ł', 'l')
const wordsOf = ({ name, emailKey }: Row): string[] => [
  ...new Set(
    [...fold(`${name ?? ''} ${emailKey?.split('@')[0] ?? ''}`).split(' '), emailKey ?? ''].filter(Boolean),
  ),
]
const compare = <T extends string | number>(one: T, other: T): number =>
  one < other ? -1 : one > other ? 1 : 0

/** A list as the service takes it, whom it has, and what they are ordered by; null where that is not told. */
type Asked = {
  args: ListUsersArgs
  has: (row: Row) => boolean
  by: ((row: Row) => string | number | null) | null
}

const ORDERS: Record<string, (row: Row) => string | number | null> = {
  createdAt: ({ createdAt }) => createdAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  lastSeenAt: ({ lastSeenAt }) => lastSeenAt,
  email: ({ emailKey }) => emailKey,
  name: ({ name }) => (name === null ? null : fold(name)),
}
const everybody = () => true
const byId = ({ id }: Row) => id

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
    (filter): Asked => ({
      args: { filter },
      has: (row) => Object.entries(filter).every(([flag, value]) => row[flag as 'locked'] === value),
      by: byId,
    }),
  )
const ranges = fc
  .tuple(fc.constantFrom('createdAt', 'updatedAt', 'lastSeenAt'), fc.option(fc.nat(2)), fc.option(fc.nat(3)))
  .map(
    ([member, from, before]): Asked => ({
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
      by: from === null && before === null ? byId : (ORDERS[member] as Asked['by']),
    }),
  )
const searches = fc
  .tuple(
    fc.constantFrom('a', 'ann', 'anna', 'zoë', 'p1', 'an p', 'ann an petr', 'p2@example', 'zo a', 'lukas'),
    fc.option(fc.boolean()),
    fc.option(fc.constantFrom('free', 'pro')),
    fc.option(fc.constant('acme')),
  )
  .map(([search, locked, plan, idpId]): Asked => {
    const wanted = fold(search).split(' ')
    const [only] = wanted
    return {
      args: { filter: { search, locked, idpId, appMetadata: plan && { plan } } },
      has: (row) =>
        wanted.every((word) => wordsOf(row).some((one) => one.startsWith(word))) &&
        (locked === null || row.locked === locked) &&
        (plan === null || row.plan === plan) &&
        (idpId === null || row.linked),
      by:
        wanted.length > 1
          ? null
          : (row) =>
              wordsOf(row)
                .filter((one) => one.startsWith(only ?? ''))
                .sort(compare)[0] ?? null,
    }
  })
const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.constant({ args: {}, has: everybody, by: byId }),
  fc
    .constantFrom(...Object.keys(ORDERS))
    .map((orderBy): Asked => ({ args: { orderBy }, has: everybody, by: ORDERS[orderBy] ?? null })),
  flags,
  ranges,
  searches,
  fc.constant({ args: { filter: { idpId: 'acme' } }, has: ({ linked }: Row) => linked, by: byId }),
  fc.constant({
    args: { filter: { appMetadata: { plan: 'pro' } } },
    has: ({ plan }: Row) => plan === 'pro',
    by: byId,
  }),
  fc.constant({
    args: { filter: { email: 'P3@example.com', search: 'p' }, orderBy: 'name' },
    has: ({ emailKey }: Row) => emailKey === 'p3@example.com',
    by: byId,
  }),
)

/** The ids of the list, as JavaScript has them. */
function expected(rows: Row[], { has, by }: Asked, direction: string): string[] {
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

const idsOf = ({ rows }: Page<User>): string[] => rows.map(({ id }) => id)

/** The ids of all pages: forward or backward by cursor, each page beginning where the one before ended. */
async function walk(args: ListUsersArgs, size: number, backward: boolean): Promise<string[]> {
  let ids: string[] = []
  let cursor: string | undefined
  for (let turn = 0; turn < 100; turn += 1) {
    const page = await listUsers(
      ctx,
      backward ? { ...args, last: size, before: cursor } : { ...args, first: size, after: cursor },
    )
    expect(page.rows.length).toBeLessThanOrEqual(size)
    expect(backward ? page.hasNextPage : page.hasPreviousPage).toBe(cursor !== undefined)
    ids = backward ? [...idsOf(page), ...ids] : [...ids, ...idsOf(page)]
    if (!(backward ? page.hasPreviousPage : page.hasNextPage)) return ids
    const edge = backward ? page.rows.at(0) : page.rows.at(-1)
    if (!edge) throw new Error('an empty page has a neighbour')
    cursor = page.cursorOf(edge)
  }
  throw new Error('the list has no end')
}

async function pages(args: ListUsersArgs, pageSize: number): Promise<string[]> {
  const ids: string[] = []
  for (let page = 0; page < 100; page += 1) {
    const { hasNextPage, ...rest } = await listUsers(ctx, { ...args, page, pageSize })
    ids.push(...idsOf(rest as Page<User>))
    if (!hasNextPage) return ids
  }
  throw new Error('the list has no end')
}

describe('every list', () => {
  test('has each of its users once, in order, by cursor either way and by page, and counts them', async () => {
    const lists = fc.array(fc.tuple(asked, fc.constantFrom('asc', 'desc')), { minLength: 6, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(person, { maxLength: 25 }),
        lists,
        fc.integer({ min: 1, max: 9 }),
        async (people, all, size) => {
          const rows = await fill(people)
          for (const [one, direction] of all) {
            const args = { ...one.args, direction }
            const forward = await walk(args, size, false)
            const wanted = expected(rows, one, direction)
            // Of several words, the rarest leads, which JavaScript does not know.
            if (one.by) expect(forward).toEqual(wanted)
            else expect(forward.toSorted()).toEqual(wanted.toSorted())
            expect(await walk(args, size, true)).toEqual(forward)
            expect(await pages(args, size)).toEqual(forward)
            expect(await (await listUsers(ctx, args)).countAll()).toBe(wanted.length)
          }
        },
      ),
      { numRuns: 25 },
    )
  })
})

describe('a cursor stays where it is', () => {
  test.each([
    {},
    { orderBy: 'name' },
    { orderBy: 'lastSeenAt', direction: 'desc' },
    { filter: { search: 'person' } },
    { filter: { locked: false } },
  ])('while others come and go, and when its own user is deleted: %j', async (args) => {
    await fill([])
    const made: User[] = []
    for (let number = 10; number < 20; number += 1)
      made.push(await createUser(ctx, { name: `Person ${number}` }))
    const all = idsOf(await listUsers(ctx, args))
    const page = await listUsers(ctx, { ...args, first: 4 })
    const cursor = page.cursorOf(page.rows[3] as User)
    await deleteUser(ctx, all[3] as string)
    await deleteUser(ctx, all[0] as string)
    await createUser(ctx, { name: 'Aaron', locked: true })
    const next = await listUsers(ctx, { ...args, first: 3, after: cursor })
    expect(idsOf(next)).toEqual(all.slice(4, 7))
    const back = await listUsers(ctx, { ...args, last: 2, before: next.cursorOf(next.rows[0] as User) })
    expect(idsOf(back)).toEqual(all.slice(1, 3))
  })

  test('a page by number hands out cursors to go on from', async () => {
    await fill([])
    for (let number = 10; number < 20; number += 1) await createUser(ctx, { name: `Person ${number}` })
    const list = { orderBy: 'name', direction: 'desc' }
    const second = await listUsers(ctx, { ...list, page: 1, pageSize: 3 })
    expect(second.page).toBe(1)
    const third = await listUsers(ctx, { ...list, first: 3, after: second.cursorOf(second.rows[2] as User) })
    expect(third.page).toBeNull()
    expect(idsOf(third)).toEqual(idsOf(await listUsers(ctx, { ...list, page: 2, pageSize: 3 })))
  })
})

describe('names are ordered whatever their case and accents', () => {
  test('and who has none comes last in both directions', async () => {
    await fill([])
    for (const name of ['Zoë', 'ähnlich', 'Alpha', 'Łukasz', 'lukas', 'Übel', 'ubel', null])
      await createUser(ctx, { name })
    const names = async (direction: string) =>
      (await listUsers(ctx, { orderBy: 'name', direction })).rows.map(({ name }) => name)
    expect(await names('asc')).toEqual(['ähnlich', 'Alpha', 'lukas', 'Łukasz', 'Übel', 'ubel', 'Zoë', null])
    expect(await names('desc')).toEqual(['Zoë', 'ubel', 'Übel', 'Łukasz', 'lukas', 'Alpha', 'ähnlich', null])
  })

  test('a name of any length has a cursor and a place', async () => {
    await fill([])
    const long = 'ﷺ'.repeat(1000)
    for (const name of [long, `${long.slice(1)}x`, 'b']) await createUser(ctx, { name })
    expect(await walk({ orderBy: 'name' }, 1, false)).toHaveLength(3)
    expect(await walk({ filter: { search: 'ﷺ'.repeat(200) } }, 1, false)).toHaveLength(2)
  })
})
