import { describe, expect } from 'vitest'
import { findClient } from '../../src/access/client-cache.ts'
import { listClients } from '../../src/clients/client-list.ts'
import { createClient, getClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { newTenant } from '../support/actors.ts'
import { MINIMAL_CLIENT, withIssues } from '../support/clients.ts'
import { test } from '../support/fixtures.ts'

describe('getClient and listClients', () => {
  test('never returns a secret', async ({ ctx, events }) => {
    const { client, secret } = await createClient(ctx, MINIMAL_CLIENT)
    const hash = sha256(secret ?? '').toString('hex')
    const read = JSON.stringify([
      await getClient(ctx, client.id),
      (await listClients(ctx, {})).rows,
      await events(),
    ])
    expect(read).not.toContain(secret)
    expect(read).not.toContain(hash)
    expect(read).not.toMatch(/"secret/i)
  })

  test('rejects a client of another tenant and an unknown client with the same error', async ({
    tenant,
    ctx,
  }) => {
    const other = await newTenant()
    const { client } = await createClient(createPlatformCtx(other), MINIMAL_CLIENT)
    for (const id of [client.id, 'client_00000000000000000000000000', '', '\u0000', 'x\ny', 'ü'])
      await expect(getClient(ctx, id)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'No such client.',
      })
    expect((await listClients(ctx, {})).rows.map(({ id }) => id)).not.toContain(client.id)
    expect(await findClient(tenant, client.id)).toBeNull()
  })

  test('pages by offset and by cursor, filtered by type and app type', async ({ tenant }) => {
    const mine = await newTenant()
    const ctx = createPlatformCtx(mine)
    const ids: string[] = []
    for (let index = 0; index < 7; index++) {
      const type = index % 2 === 0 ? 'login' : 'payment'
      ids.push((await createClient(ctx, { ...MINIMAL_CLIENT, name: `App ${index}`, type })).client.id)
    }
    const first = await listClients(ctx, { first: 3 })
    expect(first.rows.map(({ id }) => id)).toEqual(ids.slice(0, 3))
    const [, , third] = first.rows
    const second = await listClients(ctx, { first: 3, after: third && first.encodeRowCursor(third) })
    expect(second.rows.map(({ id }) => id)).toEqual(ids.slice(3, 6))
    const third_ = await listClients(ctx, { page: 2, pageSize: 3 })
    expect(third_.rows.map(({ id }) => id)).toEqual(ids.slice(6))
    expect(third_).toMatchObject({ page: 2, pageSize: 3, hasNextPage: false, hasPreviousPage: true })
    const back = await listClients(ctx, { last: 2 })
    expect(back.rows.map(({ id }) => id)).toEqual(ids.slice(-2))
    const payment = await listClients(ctx, { filter: { type: 'payment', appType: 'web' } })
    expect(payment.rows.map(({ id }) => id)).toEqual([ids[1], ids[3], ids[5]])
    expect(await payment.countAll()).toBe(3)
    const foreign = first.rows[0] && first.encodeRowCursor(first.rows[0])
    await expect(listClients(ctx, { after: foreign, filter: { type: 'payment' } })).rejects.toThrow(
      withIssues([{ field: 'after', description: 'is not a cursor of this list' }]),
    )
    await expect(listClients(createPlatformCtx(tenant), { after: foreign })).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
    })
    await expect(listClients(ctx, { filter: { type: 'other', name: 'x' } })).rejects.toMatchObject({
      fields: [{ field: 'type' }, { field: 'name' }],
    })
  })
})
