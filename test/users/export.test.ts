import { describe, expect } from 'vitest'
import { exportUsers } from '../../src/users/transfer/export.ts'
import { createUser, getUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import type { Json } from '../support/json.ts'
import { test } from '../support/tenant-per-test.ts'
import { collect, exportAll, importLines, userLine, userLines } from '../support/user-lines.ts'

describe('exportUsers', () => {
  test('returns every user once, in order of id, with every field and externalId', async ({ ctx }) => {
    await importLines(ctx, userLines(450))
    const users = await exportAll(ctx)
    expect(users).toHaveLength(450)
    expect(users.map(({ id }) => id)).toEqual([...new Set(users.map(({ id }) => id))].sort())
    expect(users[0]).toMatchObject({ ...userLine(1), emailVerified: false, address: null, appMetadata: {} })
    expect(users[0]).not.toHaveProperty('roles')
    const rest = await collect(exportUsers(ctx, { afterId: users[199].id }))
    expect(rest).toEqual(users.slice(200))
    expect(() => exportUsers(ctx, { afterId: 'client_01k7r3m8wxe4gbr5v2c9t6hznq', page: 1 })).toThrow(
      expect.objectContaining({
        fields: [expect.objectContaining({ field: 'afterId' }), expect.objectContaining({ field: 'page' })],
      }),
    )
  })

  test('omits appMetadata for a caller without users:read_app_metadata', async ({ tenant, ctx }) => {
    await importLines(ctx, [{ ...userLine(1), appMetadata: { plan: 'secret' } }])
    const [user] = await collect(exportUsers(await ctxFor(tenant, ['users:read'])))
    expect(user).not.toHaveProperty('appMetadata')
  })

  test('can be imported into another tenant, and a repeated import changes nothing', async ({
    ctx: from,
  }) => {
    const to = await ctxFor(await newTenant())
    await importLines(from, [
      ...userLines(250),
      {
        email: 'Ada@Example.com',
        emailVerified: true,
        phoneNumber: '+4315123456;ext=12',
        phoneNumberVerified: true,
        locked: true,
        address: { locality: 'Wien', country: 'Austria' },
        birthdate: '0000-12-10',
        userMetadata: { a: [1, { b: null }] },
        appMetadata: { plan: 'pro' },
      },
      { phoneNumber: '+4315123457' },
    ])
    // A user without a key is exported with the id as externalId.
    const keyless = await createUser(from, { name: 'Keyless' })
    const exported = await exportAll(from)
    expect((await importLines(to, exported)).at(-1).summary).toMatchObject({ created: 253, failed: 0 })
    const comparable = (users: Json[]) =>
      users
        .map(
          ({ id, createdAt, updatedAt, lockedAt, termsVersion, termsAcceptedAt, lastSeenAt, ...fields }) =>
            fields,
        )
        .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
    const expected = exported.map((user) =>
      user.id === keyless.id ? { ...user, externalId: keyless.id } : user,
    )
    const copied = await exportAll(to)
    expect(comparable(copied)).toEqual(comparable(expected))
    for (const [target, lines] of [
      [to, exported],
      [to, copied],
      [from, exported],
    ] as const)
      expect((await importLines(target, lines)).at(-1).summary).toMatchObject({ unchanged: 253, failed: 0 })
    expect(await getUser(from, keyless.id)).toMatchObject({ externalId: null })
  })
})
