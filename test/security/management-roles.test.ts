import { describe, expect } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { toAppError } from '../../src/core/to-app-error.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { createInvitation, revokeInvitation } from '../../src/invitations/invitations.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import {
  createManagementRole,
  deleteManagementRole,
  MAX_MANAGEMENT_ROLES,
  updateManagementRole,
} from '../../src/users/management-roles.ts'
import { grantRole, setUserRoles } from '../../src/users/roles.ts'
import { createUser, lockUser, updateUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { untilWaiting } from '../support/locks.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { importLines } from '../support/user-lines.ts'

const fail = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (thrown: unknown) => toAppError(thrown).code,
  )
/** Runs `first` in a transaction that commits once `other` waits for its locks; returns how `other` ends. */
async function overtake(ctx: Ctx, first: (joined: Ctx) => Promise<unknown>, other: () => Promise<unknown>) {
  let outcome: Promise<string> | undefined
  await ctx.db.transaction(async (tx) => {
    await first({ ...ctx, db: tx.join() })
    outcome = fail(other())
    await untilWaiting(1)
  })
  return outcome
}
const HELP = ['users:read', 'users:write'] as const
const MORE = [...HELP, 'clients:write']

/** `test` with a role that a user holds, one that permits more, and a caller who has the scopes of the first alone. */
const test = base.extend('world', async ({ ctx, tenant }) => {
  const helper = await createManagementRole(ctx, { name: 'helper', scopes: [...HELP] })
  const boss = await createManagementRole(ctx, { name: 'boss', scopes: MORE })
  const user = await createUser(ctx, { email: 'ada@example.com', emailVerified: true })
  await setUserRoles(ctx, user.id, { roles: ['helper'] })
  const caller = await ctxFor(tenant, [...HELP, 'roles:read', 'roles:write'])
  return { helper, boss, user, caller }
})

describe('a management role of a tenant', () => {
  test('is defined, changed, given and taken within the scopes of the caller', async ({ ctx, world }) => {
    const { helper, boss, user, caller } = world
    const target = await createUser(ctx, { email: 'grace@example.com' })
    const give = (roles: string[]) => setUserRoles(caller, target.id, { roles })
    expect(await fail(createManagementRole(caller, { name: 'own', scopes: ['roles:write'] }))).toBe('done')
    const attempts = [
      createManagementRole(caller, { name: 'mine', scopes: MORE }),
      updateManagementRole(caller, helper.id, { scopes: MORE }),
      updateManagementRole(caller, boss.id, { scopes: ['users:read'] }),
      updateManagementRole(caller, boss.id, { description: 'Mine' }),
      deleteManagementRole(caller, boss.id),
      give(['boss']),
      grantRole(caller, 'new@example.com', 'boss'),
      createInvitation(caller, { email: 'eve@example.com', roles: ['boss'] }),
    ].map(fail)
    expect(new Set(await Promise.all(attempts))).toEqual(new Set(['FORBIDDEN']))
    expect(await fail(give(['helper']))).toBe('done')
    await setUserRoles(ctx, target.id, { roles: ['boss'] })
    expect(await fail(give([]))).toBe('FORBIDDEN')
    expect(await fail(lockUser(caller, target.id))).toBe('FORBIDDEN')
    const lines = [
      { email: 'grace@example.com', emailVerified: true },
      { email: 'x@example.com', roles: ['helper'] },
    ]
    expect((await importLines(caller, lines)).slice(0, 2).map(({ code }) => code)).toEqual([
      'FORBIDDEN',
      'BAD_USER_INPUT',
    ])
    expect(await fail(updateUser(caller, user.id, { familyName: 'Byron' }))).toBe('done')
  })

  test('has scopes and a name that the tenant may give, and there are a hundred at most', async ({
    ctx,
    tenant,
    world: { user },
  }) => {
    const create = (input: object, caller = ctx) =>
      createManagementRole(caller, { name: 'new', scopes: ['users:read'], ...input }).then(
        () => 'done',
        (thrown) => [...new Set(toAppError(thrown).fields.map(({ field }) => field))],
      )
    for (const name of [
      'admin',
      'operator',
      'helper',
      '',
      'Admin',
      'users:write',
      'a b',
      'ä',
      'a'.repeat(51),
    ])
      expect(await create({ name })).toEqual(['name'])
    for (const scopes of [[], null]) expect(await create({ scopes })).toEqual(['scopes'])
    expect(await create({ scopes: ['users:read', 'tenants:write'] })).toEqual(['scopes'])
    expect(await create({ scopes: ['account', 'x'] })).toEqual(['scopes.0', 'scopes.1'])
    const operator = await ctxFor(SYSTEM_TENANT, ['tenants:read'])
    const inSystem = await createManagementRole(operator, { name: tenant, scopes: ['tenants:read'] })
    await deleteManagementRole(operator, inSystem.id)
    const other = await ctxFor(await newTenant())
    const foreign = await createManagementRole(other, { name: 'foreign', scopes: ['users:read'] })
    expect(await fail(setUserRoles(ctx, user.id, { roles: ['foreign'] }))).toBe('NOT_FOUND')
    expect(await fail(updateManagementRole(ctx, foreign.id, { scopes: MORE }))).toBe('NOT_FOUND')
    expect(await fail(deleteManagementRole(ctx, foreign.id))).toBe('NOT_FOUND')
    await dbFor(tenant).managementRole.createMany({
      data: Array.from({ length: MAX_MANAGEMENT_ROLES - 3 }, (_, index) => ({
        ...{ tenantId: tenant, id: `r${index}`, name: `r${index}`, scopes: ['users:read'] },
      })),
    })
    const raced = ['one', 'two', 'three'].map((name) => create({ name }))
    expect((await Promise.all(raced)).filter((outcome) => outcome === 'done')).toHaveLength(1)
  })

  test('is not deleted while a user, an invitation or a setting has it', async ({
    ctx,
    world: { helper, user },
  }) => {
    const remove = () => fail(deleteManagementRole(ctx, helper.id))
    expect(await remove()).toBe('CONFLICT')
    await setUserRoles(ctx, user.id, { roles: [] })
    const { id } = await createInvitation(ctx, { email: 'eve@example.com', roles: ['helper'] })
    expect(await remove()).toBe('CONFLICT')
    await revokeInvitation(ctx, id)
    await updateSettings(ctx, { secondFactorRoles: ['helper'] })
    expect(await remove()).toBe('CONFLICT')
    expect(await fail(updateSettings(ctx, { secondFactorRoles: ['nobody'] }))).toBe('NOT_FOUND')
    await updateSettings(ctx, { secondFactorRoles: [] })
    expect(await remove()).toBe('done')
    expect(await fail(setUserRoles(ctx, user.id, { roles: ['helper'] }))).toBe('NOT_FOUND')
  })

  test('permits no more than the caller may where a change or a deletion overtakes a gift', async ({
    ctx,
    world: { helper, user, caller },
  }) => {
    const { id } = await createUser(ctx, { email: 'grace@example.com' })
    const extend = (joined: Ctx) => updateManagementRole(joined, helper.id, { scopes: MORE })
    const reduce = () => updateManagementRole(ctx, helper.id, { scopes: [...HELP] })
    for (const attempt of [
      () => setUserRoles(caller, id, { roles: ['helper'] }),
      () => createInvitation(caller, { email: 'eve@example.com', roles: ['helper'] }),
      () => updateUser(caller, user.id, { email: 'evil@example.com' }),
      () => createCredentialEnrollmentToken(caller, user.id, {}),
    ]) {
      expect(await overtake(ctx, extend, attempt)).toBe('FORBIDDEN')
      await reduce()
    }
    await setUserRoles(ctx, user.id, { roles: [] })
    const give = (joined: Ctx) => setUserRoles(joined, id, { roles: ['helper'] })
    const remove = (joined: Ctx) => deleteManagementRole(joined, helper.id)
    expect(await overtake(ctx, give, () => remove(ctx))).toBe('CONFLICT')
    await setUserRoles(ctx, id, { roles: [] })
    expect(await overtake(ctx, remove, () => give(ctx))).toBe('NOT_FOUND')
  })

  test('ends links and passwords that were prepared for its holders when it permits more', async ({
    ctx,
    tenant,
    world: { helper, user, caller },
  }) => {
    await createCredentialEnrollmentToken(await ctxFor(tenant, [...HELP, 'credentials:write']), user.id, {})
    const countLive = () =>
      dbFor(tenant).enrollmentToken.count({ where: { tenantId: tenant, userId: user.id, usedAt: null } })
    await updateManagementRole(caller, helper.id, { scopes: ['users:read'] })
    expect(await countLive()).toBe(1)
    await updateManagementRole(ctx, helper.id, { scopes: MORE })
    expect(await countLive()).toBe(0)
  })

  test('records what happens to it, with its scopes', async ({ events, ctx, world: { helper, user } }) => {
    await updateManagementRole(ctx, helper.id, {
      scopes: ['clients:read', 'users:read'],
      description: 'Reads',
    })
    await updateManagementRole(ctx, helper.id, { description: 'Reads' })
    await setUserRoles(ctx, user.id, { roles: [] })
    await deleteManagementRole(ctx, helper.id)
    const recorded = await events({ subjectId: helper.id })
    expect(recorded.map(({ type, detail }) => [type, detail])).toEqual([
      ['management_role.created', { name: 'helper', scopes: 'users:read users:write' }],
      ['management_role.updated', { name: 'helper', added: 'clients:read', removed: 'users:write' }],
      ['management_role.deleted', { name: 'helper' }],
    ])
  })
})
