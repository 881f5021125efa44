import { describe, expect } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { createUser, deleteUser, updateUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { countWarmStatements } from '../support/statements.ts'
import { QUERY, test } from '../support/user-search.ts'

describe('a search of users', () => {
  test.for<[search: string, expected: string[]]>([
    ['łukasz', ['lukasz']],
    ['LUKASZ', ['lukasz']],
    ['zolc', ['lukasz']],
    ['müller', ['muller']],
    ['Muller', ['muller']],
    ['MULL', ['muller']],
    ['ångstrom', ['soren']],
    ['SØREN ang', ['soren']],
    ['soren angstrom aerlig', ['soren']],
    ['gross', ['strasse']],
    ['GROẞ', ['strasse']],
    ['strasse', ['strasse']],
    ['thord gudm', ['thor']],
    ['þór', ['thor']],
    ['иван', ['ivan']],
    ['ИВА елк', ['ivan']],
    ['οδυσσεας', ['odysseas']],
    ['ΟΔΥΣ', ['odysseas']],
    ['ελύτης οδυ', ['odysseas']],
    ['हिन्दी', ['hindi']],
    ['हिन', ['hindi']],
    ['न्दी', []],
    ['山田', ['yamada']],
    ['がく', ['yamada']],
    ['太郎', ['tanaka', 'yamada']],
    ['郎', ['tanaka', 'yamada']],
    ['田太', ['tanaka']],
    ['太田', []],
    ['ﾀﾛｳ', ['tanaka']],
    ['ろう', ['tanaka']],
    ['철수', ['kim']],
    ['수', ['kim']],
    ['ᅥᆯ수', []],
    ['ชาย', ['somchai']],
    ['田 tan', ['tanaka']],
    ['ada', ['full']],
    ['lovelace ada', ['full']],
    ['velace', []],
    ['ada muller', []],
    ['unknown', []],
  ])('finds users by words or their beginnings: %s finds %j', async ([search, expected], { findSorted }) => {
    expect(await findSorted({ search })).toEqual(expected)
  })

  test.for<[search: string, expected: string[]]>([
    ['ada.lovelace@example.com', ['full']],
    ['ADA.LOVELACE@EX', ['full']],
    ['ada.love', ['full']],
    ['j.mueller+shop@', ['muller']],
    ['shop', ['muller']],
    ['ivan@пример', ['ivan']],
    ['anna@example.com', ['twice']],
    ['Anna <anna@example.com>', ['twice']],
    ['@anna', ['strasse', 'twice']],
    ['example', ['full', 'lukasz', 'muller', 'twice', 'wild']],
    ['@example.com', ['full', 'lukasz', 'muller', 'twice', 'wild']],
    ['@EXAMPLE.C ada', ['full']],
    ['@пример.рф', ['ivan']],
    ['example.com', ['full', 'lukasz', 'muller', 'twice', 'wild']],
    ['EXAMPLE.C ada', ['full']],
    ['пример.рф', ['ivan']],
    ['ample.com', []],
    ['love.ada', ['full']],
    ['@ample.com', []],
    ['com', []],
  ])(
    'finds users by an address, its domain or their beginnings: %s finds %j',
    async ([search, expected], { findSorted }) => {
      expect(await findSorted({ search })).toEqual(expected)
    },
  )

  test('indexes 200 ends of words of a user at most', async ({ ctx }) => {
    const name = Array.from({ length: 16 }, (_, word) => '漢字仮名'.repeat(12) + word).join(' ')
    const { id } = await createUser(ctx, { name, nickname: name, preferredUsername: name })
    const [row] = await sql<{ count: number }>(
      'SELECT count(*)::int AS "count" FROM "UserTerm" WHERE "tenantId" = $1 AND "userId" = $2',
      [ctx.tenant, id],
    )
    expect(row?.count).toBeGreaterThan(16)
    expect(row?.count).toBeLessThanOrEqual(216)
    await deleteUser(ctx, id)
  })

  test('returns a user once when several of their words match', async ({ findSorted }) => {
    expect(await findSorted({ search: 'an' })).toEqual(['soren', 'strasse', 'twice'])
    expect(await findSorted({ search: 'ann anna annabel a' })).toEqual(['twice'])
    expect(await findSorted({ search: 'anna anna' })).toEqual(['strasse', 'twice'])
  })

  test.for<[search: string, field: string]>([
    ['%', 'search'],
    ['***', 'search'],
    ['_', 'search'],
    ['a\u0000b', 'search'],
    ['\ud800a', 'search'],
    ['x'.repeat(65_536), 'search'],
  ])(
    'rejects a text without words, with invalid characters or of 64 KB, without a statement: %j',
    async ([search, field], { gql }) => {
      const list = async () => {
        const { body } = await gql(QUERY, { filter: { search } })
        expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ field }] })
      }
      expect(await countWarmStatements(list, list)).toBe(0)
    },
  )

  test.for<[search: string, expected: string[] | null]>([
    ['100%', ['wild']],
    ['1%', ['wild']],
    ['u%r', []],
    ['under_score', ['wild']],
    ['under%', ['wild']],
    ['back\\slash', ['wild']],
    ["o'brien", ['wild']],
    ["o'brien@", ['wild']],
    ["o' OR 1=1 --", []],
    ['ada_x', []],
    ['.*', null],
  ])(
    'treats wildcards and quotes as ordinary characters: %s',
    async ([search, expected], { findSorted, findInvalid }) => {
      if (expected) expect(await findSorted({ search })).toEqual(expected)
      else expect(await findInvalid({ search })).toEqual(['search'])
    },
  )

  test('returns every user for white space', async ({ find }) => {
    expect(await find({ search: '  ' })).toEqual(await find({}))
  })
})

describe('a search of users with other members of the filter', () => {
  test.for<[filter: object, expected: string[]]>([
    [{ search: 'an', locked: true }, ['soren']],
    [{ search: 'an', locked: false }, ['strasse', 'twice']],
    [{ search: 'an', emailVerified: true, locked: false }, ['twice']],
    [{ search: 'an', hasCredential: true }, []],
    [{ search: 'an', createdAt: { lt: '2020-01-01T00:00:00Z' } }, []],
    [{ search: 'an', updatedAt: { gte: '2020-01-01T00:00:00Z' } }, ['soren', 'strasse', 'twice']],
    [{ search: 'an', email: 'ANNA@example.COM' }, ['twice']],
    [{ search: 'zz', email: 'anna@example.com' }, []],
    [{ email: 'anna@example.com', locked: true }, []],
    [{ email: 'anna@example.com', locked: false, createdAt: { gte: '2020-01-01T00:00:00Z' } }, ['twice']],
    [{ search: 'an', idpId: 'nowhere' }, []],
    [{ search: 'an', appMetadata: { plan: 'pro' } }, []],
  ])('returns the users that match all members: %j finds %j', async ([filter, expected], { findSorted }) => {
    expect(await findSorted(filter)).toEqual(expected)
  })
})

describe('the search terms of a user', () => {
  test('follow changes of the name, the address and the metadata, and are deleted with the user', async ({
    tenant,
    ctx,
    find,
  }) => {
    const { id } = await createUser(ctx, {
      name: 'Grace Hopper',
      email: 'grace@navy.example',
      appMetadata: { rank: 1 },
    })
    expect(await find({ search: 'hopper' })).toEqual([id])
    await updateUser(ctx, id, {
      name: 'Grace Brewster',
      email: 'amazing@navy.example',
      appMetadata: { rank: 2 },
    })
    expect(await find({ search: 'hopper' })).toEqual([])
    expect(await find({ search: 'grace@' })).toEqual([])
    expect(await find({ search: 'grace brew' })).toEqual([id])
    expect(await find({ search: 'amazing@navy' })).toEqual([id])
    expect(await find({ appMetadata: { rank: 1 } })).toEqual([])
    expect(await find({ appMetadata: { rank: 2 } })).toEqual([id])
    await updateUser(ctx, id, { name: null })
    expect(await find({ search: 'brew' })).toEqual([])
    await deleteUser(ctx, id)
    expect(await find({ search: 'amazing' })).toEqual([])
    const left = await sql(`SELECT FROM "UserTerm" WHERE "tenantId" = $1 AND "userId" = $2`, [tenant, id])
    expect(left).toEqual([])
  })
})

describe('metadata paths of a user', () => {
  const countTerms = async (ctx: Ctx, appMetadata: object) => {
    const { id } = await createUser(ctx, { appMetadata })
    const terms = await sql(`SELECT FROM "UserTerm" WHERE "tenantId" = $1 AND "userId" = $2`, [
      ctx.tenant,
      id,
    ])
    await deleteUser(ctx, id)
    return terms.length
  }
  const members = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`m${i}`, i]))

  // Each member below a long name would repeat the name: 60 KB of metadata would become 120 MB of terms.
  test('are stored up to the length that a filter accepts, and not beyond it', async ({ ctx, find }) => {
    expect(await countTerms(ctx, { ['k'.repeat(30_000)]: members })).toBe(0)
    expect(await countTerms(ctx, { ['k'.repeat(500)]: { ['k'.repeat(500)]: members } })).toBe(0)
    expect(await countTerms(ctx, { ['k'.repeat(1001)]: 1 })).toBe(0)
    expect(await countTerms(ctx, { ['k'.repeat(996)]: members })).toBe(100)
    const longest = { ['k'.repeat(1000)]: 1 }
    expect(await countTerms(ctx, longest)).toBe(1)
    expect(await find({ appMetadata: longest })).toEqual([])
    const { id } = await createUser(ctx, { appMetadata: longest })
    expect(await find({ appMetadata: longest })).toEqual([id])
    await deleteUser(ctx, id)
  })
})
