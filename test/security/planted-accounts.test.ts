import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { grantRole } from '../../src/users/roles.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor } from '../support/actors.ts'
import { test } from '../support/fixtures.ts'

describe('grantRole', () => {
  test('rejects an address that its user has not verified', async ({ tenant, email }) => {
    // A caller who may create users has planted the address of the future administrator, with another phone
    // number.
    const planted = { email: email('boss'), phoneNumber: '+41790000001' }
    await createUser(await ctxFor(tenant, ['users:write']), planted)
    await expect(grantRole(createPlatformCtx(tenant), planted.email, 'admin')).rejects.toMatchObject({
      status: 400,
      fields: [{ field: 'email', description: expect.stringContaining('not verified') }],
    })
  })

  test('accepts a verified address of a user with another phone number', async ({ tenant, email }) => {
    const known = { email: email('known'), emailVerified: true, phoneNumber: '+41790000002' }
    await createUser(createPlatformCtx(tenant), known)
    expect(await grantRole(createPlatformCtx(tenant), known.email, 'admin')).toMatchObject({
      user: { roles: ['admin'] },
      isCreated: false,
    })
  })
})
