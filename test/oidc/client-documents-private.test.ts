import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'

// As in production: the environment is read with the first import of src.
process.env.FETCH_PRIVATE = '0'
const { platformCtx } = await import('../../src/ctx.ts')
const { dbFor } = await import('../../src/db.ts')
const { updateSettings } = await import('../../src/tenants/settings.ts')
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { logOf } = await import('../support/events.ts')
const { authorizePath } = await import('./provider.ts')

let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
/** Something in the private network that must not be reached, on whatever name of this machine. */
let connections = 0
const internal = createServer((socket) => {
  connections += 1
  socket.destroy()
})
let port: number

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  await updateSettings(platformCtx(tenant), { clientIdMetadataDocuments: true })
  await new Promise<void>((resolve) => internal.listen(0, resolve))
  port = (internal.address() as { port: number }).port
})
afterAll(async () => {
  internal.close()
  await app.close()
})

test('security 52: no client_id has the service connect to a private address, whatever its spelling', async () => {
  const ids = [
    `https://127.0.0.1:${port}/client`,
    `https://localhost:${port}/client`,
    `https://[::1]:${port}/client`,
    `https://[::ffff:7f00:1]:${port}/client`,
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/client',
    'https://100.64.0.1/client',
    'https://[fd00::1]/client',
  ]
  for (const id of ids) {
    expect((await app.fetch(authorizePath(tenant, { id }))).status).toBe(400)
    const entry = (await logOf(tenant)).at(-1)
    expect(entry?.detail).toMatchObject({
      client_id: id,
      reason: expect.stringMatching(/public address/),
    })
  }
  // No client_ids at all: http, and other spellings of an address.
  for (const id of [
    `http://127.0.0.1:${port}/client`,
    `http://localhost:${port}/client`,
    `https://2130706433:${port}/client`,
    `https://0x7f.1:${port}/client`,
  ])
    expect((await app.fetch(authorizePath(tenant, { id }))).status).toBe(400)
  expect(connections).toBe(0)
  expect(await dbFor(tenant).client.count({ where: { tenantId: tenant } })).toBe(0)
})
