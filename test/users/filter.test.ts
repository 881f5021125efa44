import { describe, expect } from 'vitest'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { test as base, QUERY } from '../support/user-search.ts'

const METADATA = {
  plan: 'pro',
  seats: 5,
  trial: false,
  note: null,
  tags: ['a', 'b', 'b'],
  org: { unit: { id: 'x=1' } },
  'dotted.name': 'd',
  quoted: '"pro"',
}

/** With a user of that metadata and one of other metadata. */
const test = base.extend('proUser', { scope: 'file' }, async ({ ctx, ids: _ }) => {
  const { id } = await createUser(ctx, { appMetadata: METADATA })
  await createUser(ctx, { appMetadata: { plan: 'free', seats: 5, tags: ['b'] } })
  return id
})

describe('the filters hasCredential and idpId', () => {
  test('return a user while the credential or the link exists, and leave updatedAt unchanged', async ({
    tenant,
    ctx,
    find,
  }) => {
    const user = await createUser(ctx, { name: 'Linked Holder' })
    const lists = async () => [
      await find({ hasCredential: true, locked: false }),
      await find({ idpId: 'acme' }),
      await find({ search: 'holder', hasCredential: true, idpId: 'acme' }),
    ]
    expect(await lists()).toEqual([[], [], []])
    for (const [text, ...values] of [
      [
        `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, 'acme', 'oidc', 'Acme')`,
      ],
      [
        `INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "externalId") VALUES ($1, 'idpuser_1', $2, 'acme', 'x')`,
        user.id,
      ],
      ...['a', 'b'].map((id) => [
        `INSERT INTO "Credential" ("tenantId", "id", "userId", "externalId") VALUES ($1, 'cred_' || $3, $2, $3)`,
        user.id,
        id,
      ]),
    ] as [string, ...unknown[]][])
      await sql(text, [tenant, ...values])
    expect(await lists()).toEqual([[user.id], [user.id], [user.id]])
    await sql(`DELETE FROM "Credential" WHERE "tenantId" = $1 AND "id" = 'cred_a'`, [tenant])
    expect((await lists())[0]).toEqual([user.id])
    await sql(`DELETE FROM "Credential" WHERE "tenantId" = $1 AND "id" = 'cred_b'`, [tenant])
    await sql(`DELETE FROM "IdpUser" WHERE "tenantId" = $1`, [tenant])
    expect(await lists()).toEqual([[], [], []])
    const [row] = await sql<{ same: boolean }>(
      `SELECT "updatedAt" = "createdAt" AS "same" FROM "User" WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, user.id],
    )
    expect(row?.same).toBe(true)
  })
})

describe('the filter role', () => {
  test('returns those who have the role, among others', async ({ ctx, gql, rest }) => {
    const find = async (filter: object) =>
      (await gql(QUERY, { filter })).body.data.users.nodes.map(({ id }: { id: string }) => id)
    const [auditor, both, former] = [
      await createUser(ctx, { name: 'Audrey' }),
      await createUser(ctx, { name: 'Boris' }),
      await createUser(ctx, { name: 'Fiona' }),
    ]
    await setUserRoles(ctx, auditor.id, { roles: ['auditor'] })
    await setUserRoles(ctx, both.id, { roles: ['support', 'auditor'] })
    await setUserRoles(ctx, former.id, { roles: ['auditor'] })
    await setUserRoles(ctx, former.id, { roles: [] })
    expect(await find({ role: 'auditor' })).toEqual([auditor.id, both.id])
    expect(await find({ role: 'support', search: 'boris' })).toEqual([both.id])
    expect(await find({ role: 'support', search: 'audrey' })).toEqual([])
    const { body } = await rest('GET', '/users?role=support')
    expect(body).toMatchObject({ totalSize: 1, users: [{ id: both.id }] })
  })
})

describe('the filter appMetadata', () => {
  test.for<[appMetadata: object]>([
    [{ plan: 'pro' }],
    [{ trial: false }],
    [{ note: null }],
    [{ tags: 'a' }],
    [{ 'org.unit.id': 'x=1' }],
    [{ 'dotted.name': 'd' }],
    [{ quoted: '"pro"' }],
    [{ plan: 'pro', seats: 5, tags: 'b' }],
  ])('returns the users whose metadata matches: %j', async ([appMetadata], { gql, proUser }) => {
    const { body } = await gql(QUERY, { filter: { appMetadata } })
    expect(body.data.users).toMatchObject({ totalSize: 1, nodes: [{ id: proUser }] })
  })

  test.for<[appMetadata: object]>([
    [{ plan: 'PRO' }],
    [{ seats: '5' }],
    [{ plan: 'pro', seats: 6 }],
    [{ org: 'unit' }],
    [{ 'plan=': '' }],
  ])('returns no user for metadata that does not match: %j', async ([appMetadata], { gql }) => {
    const { body } = await gql(QUERY, { filter: { appMetadata } })
    expect(body.data.users).toMatchObject({ totalSize: 0, nodes: [] })
  })

  test('accepts appMetadata.path=value over REST, with numbers and quoted text', async ({
    rest,
    proUser,
  }) => {
    for (const query of [
      'appMetadata.plan=pro&appMetadata.seats=5',
      'appMetadata.org.unit.id=x=1',
      'appMetadata.note=null',
    ]) {
      const { body } = await rest('GET', `/users?${query}`)
      expect(body).toMatchObject({ totalSize: 1, users: [{ id: proUser }] })
    }
  })

  test.for<[appMetadata: object, field: string]>([
    [{ plan: { name: 'pro' } }, 'appMetadata.plan'],
    [{ plan: ['pro'] }, 'appMetadata.plan'],
    [{ plan: 'a\u0000' }, 'appMetadata.plan'],
    [{}, 'appMetadata'],
    [Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`p${index}`, 1])), 'appMetadata'],
  ])('rejects %j by the name of the member', async ([appMetadata, field], { gql }) => {
    const { body } = await gql(QUERY, { filter: { appMetadata } })
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ field }] })
  })
})

describe('the filters email, phoneNumber and externalId', () => {
  test('compare normalized addresses, and the exact externalId', async ({ tenant, ctx, rest, find }) => {
    const { id } = await createUser(ctx, { email: 'Tel@Example.com', phoneNumber: '+41 79 111 22 33' })
    await sql(`UPDATE "User" SET "externalId" = 'crm-1' WHERE "tenantId" = $1 AND "id" = $2`, [tenant, id])
    expect(await find({ email: 'tel@EXAMPLE.com' })).toEqual([id])
    expect(await find({ phoneNumber: '+41791112233' })).toEqual([id])
    const plus = await rest('GET', '/users?phoneNumber=+41791112233')
    expect(plus.body.users).toMatchObject([{ id }])
    expect(await find({ phoneNumber: '+41791112234' })).toEqual([])
    expect(await find({ externalId: 'crm-1' })).toEqual([id])
    expect(await find({ externalId: 'CRM-1' })).toEqual([])
    expect(await find({ email: 'tel@example.com' }, { field: 'NAME', direction: 'DESC' })).toEqual([id])
  })

  test('reject invalid addresses by the name of the member', async ({ findInvalid }) => {
    expect(await findInvalid({ email: 'nonsense' })).toEqual(['email'])
    expect(await findInvalid({ phoneNumber: '\t' })).toEqual(['phoneNumber'])
    expect(await findInvalid({ email: '' })).toEqual(['email'])
  })

  test.for<[args: string, fields: string[]]>([
    ['first: 5000, filter: { email: "nope" }', ['email', 'first']],
    [
      'first: 5000, page: 1, filter: { email: "nope", phoneNumber: "" }',
      ['email', 'phoneNumber', 'first', 'page'],
    ],
    ['pageSize: 0, filter: { email: "a@example.com" }', ['pageSize']],
  ])('are reported with every other invalid field: %s', async ([args, fields], { gql }) => {
    const { body } = await gql(`{ users(${args}) { totalSize } }`)
    const { extensions } = body.errors?.[0] ?? {}
    expect(extensions?.code).toBe('BAD_USER_INPUT')
    expect(extensions?.fields.map(({ field }: { field: string }) => field)).toEqual(fields)
  })
})
