import { describe, expect } from 'vitest'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { importUsersFromCsv } from '../../src/users/transfer/import-csv.ts'
import { getUserByEmail } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { createCredential } from '../support/authenticator.ts'
import { dbFor } from '../support/database.ts'
import type { Json } from '../support/json.ts'
import { whileLocked } from '../support/locks.ts'
import { makeUser } from '../support/protocol.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { collect, exportAll, importLines, toChunks, toStatuses } from '../support/user-lines.ts'

const createPasskey = (rpId = 'localhost') => {
  const { publicKey, response } = createCredential({ challenge: 'c', rp: { id: rpId } })
  return { id: response.id, publicKey, userHandle: 'b2xkLWlk', rpId, signCount: 7, transports: ['internal'] }
}
const passkey = createPasskey()
const acme = {
  slug: 'acme',
  externalId: 'crm-1',
  name: 'Acme Inc.',
  isAdministrator: true,
  appRoles: ['order-clerk'],
  groups: ['Order desk'],
}
const belongings = {
  passkeys: [passkey],
  appRoles: ['reader'],
  groups: ['Staff'],
  organizations: [
    acme,
    {
      ...{ slug: 'zenith', name: 'zenith', externalId: null },
      ...{ isAdministrator: false, appRoles: [], groups: [] },
    },
  ],
}
const line = { email: 'ada@example.com', emailVerified: true, ...belongings }

const createRoles = async (ctx: Awaited<ReturnType<typeof ctxFor>>) => {
  await createAppRole(ctx, { name: 'reader', assignableTo: ['user'] })
  await createAppRole(ctx, { name: 'order-clerk', assignableTo: ['member'] })
}
const test = base
  .extend('roles', ({ ctx }) => createRoles(ctx))
  .extend('count', ({ tenant }) => async () => {
    const { prisma } = { prisma: dbFor(tenant) }
    const where = { tenantId: tenant }
    return Promise.all([
      prisma.user.count({ where }),
      prisma.organization.count({ where }),
      prisma.group.count({ where }),
      prisma.membership.count({ where }),
      prisma.credential.count({ where }),
      prisma.userAppRole.count({ where }),
    ])
  })

describe('a line of an import', () => {
  test('brings passkeys, roles, groups and organizations, which an export gives to another tenant', async ({
    ctx,
    events,
    count,
    roles: _,
  }) => {
    expect(toStatuses(await importLines(ctx, [line], { dryRun: true }))).toEqual(['created'])
    expect(await count()).toEqual([0, 0, 0, 0, 0, 0])
    expect(toStatuses(await importLines(ctx, [line]))).toEqual(['created'])
    expect(toStatuses(await importLines(ctx, [line]))).toEqual(['unchanged'])
    const { id } = await getUserByEmail(ctx, 'ada@example.com')
    expect((await events()).filter(({ userId }) => userId === id).map(({ type }) => type)).toEqual([
      'user.created',
      'credential.enrolled',
      'user.app_roles_changed',
      'membership.created',
      'membership.created',
      'membership.updated',
      'membership.app_roles_changed',
    ])
    const [exported] = await exportAll(ctx)
    expect(exported).toMatchObject(line)
    const other = await ctxFor(await newTenant())
    await createRoles(other)
    expect(toStatuses(await importLines(other, [exported]))).toEqual(['created'])
    expect((await exportAll(other))[0]).toMatchObject(line)
    expect(toStatuses(await importLines(ctx, [exported]))).toEqual(['unchanged'])
    // An organization is found by either of its names, and stays as it is.
    const more = { ...line, organizations: [{ externalId: 'crm-1', name: 'Other', groups: ['Night desk'] }] }
    expect(toStatuses(await importLines(ctx, [more]))).toEqual(['updated'])
    expect((await exportAll(ctx))[0].organizations[0]).toEqual({
      ...acme,
      groups: ['Night desk', 'Order desk'],
    })
  })

  test('of a CSV file brings roles and groups', async ({ ctx, roles: _ }) => {
    const file =
      'E-mail;Rollen;groups\nada@example.com;reader;"Staff; Night desk"\nbea@example.com;nothing|reader;\n'
    const results = await collect(importUsersFromCsv(ctx, toChunks(file)))
    expect(results).toMatchObject([
      { status: 'created' },
      { status: 'error', fields: [{ field: 'appRoles.0' }] },
      { summary: { created: 1 } },
    ])
    expect((await exportAll(ctx))[0]).toMatchObject({ appRoles: ['reader'], groups: ['Night desk', 'Staff'] })
  })

  test('names every invalid field, also in a dry run, and leaves nothing of its line', async ({
    ctx,
    count,
    roles: _,
  }) => {
    const owner = createPasskey()
    await importLines(ctx, [{ email: 'bea@example.com', passkeys: [owner] }])
    const before = await count()
    const faulty = {
      ...line,
      passkeys: [passkey, { ...createPasskey('old.example'), publicKey: 'AAAA' }, owner],
      appRoles: ['reader', 'order-clerk', 'nothing'],
      groups: ['New'],
      organizations: [acme, { slug: 'new' }, { externalId: 'nobody' }],
    }
    const fields = [
      'passkeys.1.rpId',
      'passkeys.1.publicKey',
      'passkeys.2.id',
      'appRoles.1',
      'appRoles.2',
      'organizations.2.slug',
    ]
    for (const dryRun of [true, false]) {
      const [result, other] = await importLines(
        ctx,
        [faulty, { email: 'cem@example.com', organizations: [{ slug: 'a', appRoles: ['reader'] }] }],
        { dryRun },
      )
      expect(result.fields.map(({ field }: Json) => field)).toEqual(fields)
      expect(other.fields).toMatchObject([{ field: 'organizations.0.appRoles.0' }])
      expect(await count()).toEqual(before)
    }
    const malformed = {
      passkeys: [{ id: '!', publicKey: '', userHandle: 'a'.repeat(100), signCount: -1 }],
      appRoles: Array.from({ length: 101 }, () => 'reader'),
      groups: [''],
      organizations: [{}, { slug: 'A b' }],
    }
    const [shapes] = await importLines(ctx, [{ email: 'dan@example.com', ...malformed }])
    expect(shapes.fields.map(({ field }: Json) => field)).toEqual([
      'passkeys.0.id',
      'passkeys.0.publicKey',
      'passkeys.0.userHandle',
      'passkeys.0.rpId',
      'passkeys.0.signCount',
      'appRoles',
      'groups.0',
      'organizations.0.slug',
      'organizations.1.slug',
    ])
  })

  test('needs the scopes of what it brings, and control of an account that gets a passkey', async ({
    tenant,
    ctx,
    count,
    roles: _,
  }) => {
    const caller = await ctxFor(tenant, ['users:write', 'organizations:write', 'credentials:write'])
    const root = await makeUser(tenant, 'root@example.com')
    const where = { tenantId_id: { tenantId: tenant, id: root.id } }
    await dbFor(tenant).user.update({ where, data: { roles: ['admin'] } })
    const before = await count()
    const results = await importLines(caller, [
      { email: 'a@example.com', appRoles: ['reader'] },
      { email: 'b@example.com', groups: ['Staff'] },
      { email: 'c@example.com', organizations: [acme] },
      { email: 'root@example.com', passkeys: [passkey] },
    ])
    expect(results.slice(0, -1).map(({ code }) => code)).toEqual(Array(4).fill('FORBIDDEN'))
    const few = await importLines(await ctxFor(tenant, ['users:write']), [
      { email: 'd@example.com', organizations: [{ slug: 'acme' }] },
      { email: 'e@example.com', passkeys: [passkey] },
    ])
    expect(few.map(({ message }) => /scope (\S+)\./.exec(message ?? '')?.[1])).toEqual([
      'organizations:write',
      'credentials:write',
      undefined,
    ])
    expect(await count()).toEqual(before)
    // An export gives what the scopes of its reader permit.
    await importLines(ctx, [line])
    const read = async (scopes: Parameters<typeof ctxFor>[1]) =>
      Object.keys((await exportAll(await ctxFor(tenant, scopes))).at(-1) ?? {})
    expect(await read(['users:read'])).not.toContain('appRoles')
    expect(await read(['users:read', 'roles:read'])).toEqual(expect.arrayContaining(['appRoles', 'groups']))
    expect(await read(['users:read', 'roles:read'])).not.toEqual(expect.arrayContaining(['passkeys']))
  })

  test('creates an organization and a group once, when imports name them at once', async ({
    ctx,
    tenant,
    roles: _,
  }) => {
    const { passkeys: __, ...rest } = belongings
    const imports = await Promise.all(
      Array.from({ length: 4 }, (_, n) => importLines(ctx, [{ email: `p${n}@example.com`, ...rest }])),
    )
    expect(imports.map(toStatuses)).toEqual(Array(4).fill(['created']))
    const where = { tenantId: tenant }
    expect(await dbFor(tenant).organization.count({ where })).toBe(2)
    expect(await dbFor(tenant).group.count({ where })).toBe(2)
    expect(await dbFor(tenant).membership.count({ where })).toBe(8)
  })

  test('leaves a member at most a hundred roles, when others are given at the same time', async ({
    ctx,
    tenant,
    roles: _,
  }) => {
    const member = { ...acme, isAdministrator: false, groups: [] }
    await importLines(ctx, [{ email: 'ada@example.com', organizations: [{ ...member, appRoles: [] }] }])
    await dbFor(tenant).appRole.createMany({
      data: Array.from({ length: 100 }, (_, n) => ({
        ...{ tenantId: tenant, id: `role_of_${n}`, name: `role-${n}`, assignableTo: ['member'] },
      })),
    })
    const imported = await whileLocked(
      async (sql) => {
        await sql('SELECT 1 FROM "Membership" WHERE "tenantId" = $1 FOR NO KEY UPDATE', [tenant])
        await sql(
          `INSERT INTO "MembershipAppRole" ("tenantId", "membershipId", "roleId") SELECT m."tenantId", m."id", r."id"
          FROM "Membership" m JOIN "AppRole" r USING ("tenantId") WHERE m."tenantId" = $1 AND r."id" LIKE 'role_of_%'`,
          [tenant],
        )
      },
      () => importLines(ctx, [{ email: 'ada@example.com', organizations: [member] }]),
    )
    expect(imported[0]).toMatchObject({
      status: 'error',
      fields: [{ field: 'organizations.0.appRoles.0' }],
    })
    expect(await dbFor(tenant).membershipAppRole.count({ where: { tenantId: tenant } })).toBe(100)
  })
})
