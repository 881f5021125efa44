import { describe, expect } from 'vitest'
import { setUserRoles } from '../../src/users/roles.ts'
import { importUsers } from '../../src/users/transfer/import.ts'
import { createUser, getUser, getUserByEmail } from '../../src/users/users.ts'
import { ctxFor } from '../support/actors.ts'
import type { Json } from '../support/json.ts'
import { test } from '../support/tenant-per-test.ts'
import { importLines, toChunks, toStatuses, userLine } from '../support/user-lines.ts'

describe('the user of an imported line', () => {
  test('finds the user by externalId, else email, else phoneNumber, or by the member that matchBy names', async ({
    ctx,
  }) => {
    const mine = await createUser(ctx, { email: 'ada@example.com', phoneNumber: '+4315123456' })
    expect(await importLines(ctx, [{ email: 'ADA@example.com', name: 'By email' }])).toMatchObject([
      { status: 'updated', userId: mine.id },
      {},
    ])
    expect(await importLines(ctx, [{ phoneNumber: '+43 1 5123456', name: 'By number' }])).toMatchObject([
      { status: 'updated', userId: mine.id },
      {},
    ])
    for (const line of [
      { phoneNumber: '\u202d+43 1 5123\u2010456\u202c' },
      { email: '\u200eADA@example.com\u00a0' },
    ])
      expect(await importLines(ctx, [line])).toMatchObject([{ status: 'unchanged', userId: mine.id }, {}])
    // No user has that externalId, and the address is taken.
    expect(await importLines(ctx, [{ externalId: 'a', email: 'ada@example.com' }])).toEqual([
      {
        line: 1,
        status: 'error',
        code: 'CONFLICT',
        message: 'The value is taken.',
        fields: [{ field: 'email', description: 'is taken by another user' }],
      },
      expect.anything(),
    ])
    const adopt = [{ externalId: 'a', email: 'ada@example.com' }]
    expect(await importLines(ctx, adopt, { matchBy: 'email' })).toMatchObject([
      { status: 'updated', userId: mine.id },
      {},
    ])
    expect(await importLines(ctx, adopt)).toMatchObject([{ status: 'unchanged', userId: mine.id }, {}])
    expect(await importLines(ctx, [{ externalId: 'a' }], { matchBy: 'phoneNumber' })).toMatchObject([
      {
        status: 'error',
        fields: [{ field: 'phoneNumber', description: 'is required to match the line to a user' }],
      },
      {},
    ])
    expect(() => importUsers(ctx, toChunks(''), { matchBy: 'name', startLine: 0, more: 1 })).toThrow(
      expect.objectContaining({
        fields: [
          expect.objectContaining({ field: 'matchBy' }),
          expect.objectContaining({ field: 'startLine' }),
          expect.objectContaining({ field: 'more' }),
        ],
      }),
    )
  })

  test('rejects a line whose keys belong to two users, and names the fields that are taken', async ({
    ctx,
  }) => {
    await importLines(ctx, [
      { externalId: 'a', email: 'a@example.com', phoneNumber: '+4315123451' },
      { externalId: 'b', email: 'b@example.com', phoneNumber: '+4315123452' },
    ])
    const results = await importLines(ctx, [
      { externalId: 'a', email: 'b@example.com', phoneNumber: '+4315123452' },
      { externalId: 'c', email: 'a@example.com' },
      { externalId: 'd', email: 'd@example.com' },
    ])
    expect(
      results.map(({ status, code, fields }) => [status, code, fields?.map(({ field }: Json) => field)]),
    ).toEqual([
      ['error', 'CONFLICT', ['email', 'phoneNumber']],
      ['error', 'CONFLICT', ['email']],
      ['created', undefined, undefined],
      [undefined, undefined, undefined],
    ])
  })

  test('assigns an address that an earlier line of the same batch has freed', async ({ ctx }) => {
    await importLines(ctx, [{ externalId: 'a', email: 'shared@example.com' }])
    const results = await importLines(ctx, [
      { externalId: 'a', email: 'other@example.com' },
      { externalId: 'b', email: 'shared@example.com' },
    ])
    expect(toStatuses(results)).toEqual(['updated', 'created'])
  })

  test('stores a new address as unverified, and rejects a verified flag without its address', async ({
    ctx,
  }) => {
    await importLines(ctx, [{ externalId: 'a', email: 'a@example.com', emailVerified: true }])
    await importLines(ctx, [{ externalId: 'a', email: 'A@example.com', name: 'Ada' }])
    expect(await getUserByEmail(ctx, 'a@example.com')).toMatchObject({ emailVerified: true, name: 'Ada' })
    await importLines(ctx, [{ externalId: 'a', email: 'b@example.com' }])
    expect(await getUserByEmail(ctx, 'b@example.com')).toMatchObject({ emailVerified: false })
    const [result] = await importLines(ctx, [{ externalId: 'a', email: null, emailVerified: true }])
    expect(result).toMatchObject({ status: 'error', fields: [{ field: 'emailVerified' }] })
    expect(await getUserByEmail(ctx, 'b@example.com')).toMatchObject({ externalId: 'a' })
  })

  test('rejects a change of the address or lock of a user whose roles exceed the scopes of the caller', async ({
    tenant,
    ctx,
  }) => {
    const [{ userId }] = await importLines(ctx, [userLine(1)])
    await setUserRoles(ctx, userId, { roles: ['admin'] })
    const writer = await ctxFor(tenant, ['users:write'])
    const results = await importLines(writer, [
      { externalId: 'crm-1', email: 'mine@example.com' },
      userLine(2),
      { externalId: 'crm-1', locked: true },
      { externalId: 'crm-1', nickname: 'Boss' },
    ])
    expect(results.map(({ status, code }) => [status, code])).toEqual([
      ['error', 'FORBIDDEN'],
      ['created', undefined],
      ['error', 'FORBIDDEN'],
      ['updated', undefined],
      [undefined, undefined],
    ])
    expect(await getUser(ctx, userId)).toMatchObject({
      email: 'p1@example.com',
      locked: false,
      nickname: 'Boss',
    })
  })

  test('rejects an externalId for a user whose roles exceed the scopes of the caller', async ({
    tenant,
    ctx,
  }) => {
    const [{ userId }] = await importLines(ctx, [{ email: 'root@example.com', emailVerified: true }])
    await setUserRoles(ctx, userId, { roles: ['admin'] })
    const writer = await ctxFor(tenant, ['users:write'])
    // Otherwise the next import of a file with crm-666 would assign the account to the address in that file.
    const planted = [{ email: 'root@example.com', externalId: 'crm-666' }]
    expect(await importLines(writer, planted, { matchBy: 'email' })).toMatchObject([
      { status: 'error', code: 'FORBIDDEN' },
      {},
    ])
    expect(await importLines(ctx, planted, { matchBy: 'email' })).toMatchObject([
      { status: 'updated', userId },
      {},
    ])
  })
})
