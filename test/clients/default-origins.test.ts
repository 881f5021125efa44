import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SURFACES, test } from '../support/client-writers.ts'
import { dbFor } from '../support/database.ts'

const CALLBACKS = [
  'https://app.example/cb',
  'https://app.example/silent?x=1',
  'http://localhost:5173/cb',
  'https://APP2.example:443/cb',
]
const ORIGINS = ['https://app.example', 'http://localhost:5173', 'https://app2.example']

describe.each(SURFACES)('allowedOrigins over %s', (surface) => {
  test('are the origins of the callbacks when unset, each once, and follow them', async ({
    writers,
    listChanges,
  }) => {
    const { create, update } = writers[surface]
    const client = await create({ appType: 'single-page', callbacks: CALLBACKS })
    expect(client.allowedOrigins).toEqual(ORIGINS)
    const moved = await update(client.id, { callbacks: ['https://moved.example/cb'] })
    expect(moved.allowedOrigins).toEqual(['https://moved.example'])
    expect(await listChanges(client.id)).toEqual([
      { type: 'client.updated', changedFields: ['callbacks', 'allowedOrigins'] },
    ])
  })

  test('stay none for an empty list, and are unset again by null', async ({ writers }) => {
    const { create, update } = writers[surface]
    const client = await create({ appType: 'single-page', callbacks: CALLBACKS, allowedOrigins: [] })
    expect(client.allowedOrigins).toEqual([])
    const renamed = await update(client.id, { callbacks: ['https://b.example/cb'], name: 'B' })
    expect(renamed.allowedOrigins).toEqual([])
    expect((await update(client.id, { allowedOrigins: null })).allowedOrigins).toEqual(['https://b.example'])
    expect((await update(client.id, { allowedOrigins: [] })).allowedOrigins).toEqual([])
  })

  test('that are sent back as they were read stay unset', async ({ writers, listChanges }) => {
    const { create, update } = writers[surface]
    const client = await create({ appType: 'single-page', callbacks: CALLBACKS, allowedOrigins: null })
    await update(client.id, { allowedOrigins: client.allowedOrigins })
    expect(await listChanges(client.id)).toEqual([])
    const moved = await update(client.id, { callbacks: ['https://c.example/cb'] })
    expect(moved.allowedOrigins).toEqual(['https://c.example'])
  })
})

test('a native application has no origin for a private-use scheme', async ({ writers }) => {
  const { allowedOrigins } = await writers.REST.create({
    appType: 'native',
    callbacks: ['com.example.app:/cb', 'http://127.0.0.1/cb'],
  })
  expect(allowedOrigins).toEqual(['http://127.0.0.1'])
})

test('a client of an earlier version keeps its empty list', async ({ tenant }) => {
  const ctx = createPlatformCtx(tenant)
  const { client } = await createClient(ctx, {
    name: 'Old',
    type: 'login',
    appType: 'web',
    callbacks: ['https://old.example/cb'],
    allowedOrigins: [],
  })
  const where = { tenantId_id: { tenantId: tenant, id: client.id } }
  expect(await dbFor(tenant).client.findUnique({ where })).toMatchObject({ hasDefaultOrigins: false })
  const updated = await updateClient(ctx, client.id, { callbacks: ['https://new.example/cb'] })
  expect(updated.allowedOrigins).toEqual([])
})
