import { createServer } from 'node:net'
import { describe, expect, vi } from 'vitest'

const test = base
  .extend('receiver', { scope: 'file' }, async ({ app: _app }, { onCleanup }) => {
    const receiver = await startLogoutReceiver()
    onCleanup(receiver.close)
    return receiver
  })
  /** A server on this machine that counts its connections. */
  .extend('internal', { scope: 'file' }, async ({ app: _app }, { onCleanup }) => {
    const internal = { connections: 0, port: 0 }
    const server = createServer((socket) => {
      internal.connections += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => server.listen(0, resolve))
    internal.port = (server.address() as { port: number }).port
    onCleanup(() => {
      server.close()
    })
    return internal
  })
  .extend('deliveryTo', { scope: 'file' }, ({ tenant }) => (url: string) => ({
    tenantId: tenant,
    id: 'd',
    recipientId: 'client_x',
    userId: 'user_x',
    sessionId: 'session_x',
    attempts: 1,
    expiresAt: new Date(),
    url,
    alg: null,
  }))

vi.hoisted(() => {
  process.env.FETCH_PRIVATE = '0'
})

import { loadMessageTenant } from '../../src/access/message-tenant.ts'
import { invalidateTenant } from '../../src/access/tenant-cache.ts'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { announceInsertion } from '../../src/database/insertions.ts'
import { verifyOwnMailServer } from '../../src/delivery/own-mail-server.ts'
import type { OwnServers } from '../../src/delivery/own-servers.ts'
import { sendLogoutToken } from '../../src/oidc/logout/backchannel-logout.ts'
import { startLogoutDeliveries } from '../../src/oidc/logout/logout-deliveries.ts'
import { proveByUrl } from '../../src/old-passwords/proof-url.ts'
import { parseClientDocument } from '../../src/registration/client-document.fields.ts'
import { revokeUserSessions } from '../../src/sessions/revoke-sessions.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { JWT_BEARER } from '../support/client-assertions.ts'
import { dbFor, sql } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import { startLogoutReceiver } from '../support/logout-receiver.ts'
import { makeAssertion, makeKey } from '../support/proofs.ts'
import { authorizePath } from '../support/protocol.ts'

describe('a question to the proofUrl', () => {
  test('is not sent to this machine, whatever its address is called', async ({
    tenant,
    newPerson,
    internal,
    events,
  }) => {
    const ctx = createPlatformCtx(tenant)
    const { id: userId } = await newPerson()
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '169.254.169.254']) {
      const proofUrl = `https://${host}:${internal.port}/prove`
      await expect(updateSettings(ctx, { proofUrl })).rejects.toMatchObject({
        fields: [{ field: 'proofUrl', description: 'must be on a public address' }],
      })
    }
    // A name that leads there is rejected when it is resolved; the row is written as if its address had changed since.
    const where = { tenantId: tenant }
    await dbFor(tenant).tenant.update({ where, data: { proofUrl: `http://127.0.0.1:${internal.port}/` } })
    invalidateTenant(ctx.db)
    const before = internal.connections
    expect(await proveByUrl(ctx, { userId, address: 'ada@example.com', password: 'secret' })).toBe(false)
    expect(internal.connections).toBe(before)
    expect(await events({ type: 'credential.proof_failed' })).toMatchObject([
      { detail: { reason: 'refused' } },
    ])
  })
})

describe('the mail server of a tenant', () => {
  test('is not on this machine, whatever its address is called', async ({ tenant, internal }) => {
    const ctx = createPlatformCtx(tenant)
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '10.0.0.1', '169.254.169.254']) {
      const sender = { mailSenderAddress: 'id@shop.example' }
      await expect(
        updateSettings(ctx, { ...sender, mailServer: `smtp://${host}:${internal.port}` }),
      ).rejects.toMatchObject({
        fields: [{ field: 'mailServer', description: 'must be on a public address' }],
      })
    }
    const before = internal.connections
    const servers = (await loadMessageTenant(tenant)).servers as OwnServers
    // The address of a name may have changed since.
    for (const host of ['127.0.0.1', 'localhost.localdomain', 'localhost'])
      await expect(
        verifyOwnMailServer({ ...servers, mailServer: `smtp://${host}:${internal.port}` }),
      ).rejects.toThrow(/not on a public address|has no address/)
    expect(internal.connections).toBe(before)
  })
})

describe('a logout token', () => {
  test.for([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '2130706433',
    '0',
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '198.18.0.1',
    '100.64.0.1',
    '[fd00::1]',
  ])(
    'is not sent to %s, which clients cannot register either',
    async (host, { tenant, newClient, receiver, deliveryTo }) => {
      const url = `http://${host}:${new URL(receiver.urlOf('/')).port}/`
      const answer = await sendLogoutToken(deliveryTo(url), AbortSignal.timeout(10_000))
      expect(answer).toEqual({ status: null, fault: 'refused' })
      expect(receiver.heardAt('/')).toEqual([])
      const { id } = await newClient()
      const fields = [{ field: 'backchannelLogoutUrl', description: 'must be on a public address' }]
      for (const backchannelLogoutUrl of [url, url.replace('http:', 'https:')]) {
        await expect(newClient({ backchannelLogoutUrl })).rejects.toMatchObject({ fields })
        await expect(
          updateClient(createPlatformCtx(tenant), id, { backchannelLogoutUrl }),
        ).rejects.toMatchObject({
          fields,
        })
      }
    },
  )

  test('is not sent to a private address that a client registered before, which an event records', async ({
    tenant,
    newClient,
    newPerson,
    receiver,
  }) => {
    const client = await newClient()
    await dbFor(tenant).client.updateMany({
      where: { tenantId: tenant, id: client.id },
      data: { backchannelLogoutUrl: receiver.urlOf('/') },
    })
    const { id: userId } = await newPerson()
    const own = { tenantId: tenant, userId, kind: 'browser', expiresAt: new Date(Date.now() + 60_000) }
    await dbFor(tenant).session.create({ data: { ...own, id: 'session_x', tokenHash: Buffer.from('x') } })
    await dbFor(tenant).sessionClient.create({
      data: { tenantId: tenant, sessionId: 'session_x', clientId: client.id },
    })
    await revokeUserSessions(createPlatformCtx(tenant), userId)
    await sql('UPDATE "LogoutDelivery" SET "expiresAt" = now() WHERE "tenantId" = $1', [tenant])
    const stop = startLogoutDeliveries()
    announceInsertion('LogoutDelivery', tenant)
    const outcome = () =>
      dbFor(tenant).event.findFirst({ where: { tenantId: tenant, type: 'logout.failed' } })
    await expect.poll(outcome, { timeout: 15_000 }).toMatchObject({
      subjectIds: [client.id],
      detail: { attempts: 1, status: null, fault: 'refused' },
    })
    await stop()
    expect(receiver.heardAt('/')).toEqual([])
  })
})

describe('a client metadata document', () => {
  test('is not fetched from a private address in any notation', async ({ app, tenant, events, internal }) => {
    await updateSettings(createPlatformCtx(tenant), { clientIdMetadataDocuments: true })
    const ids = [
      `https://127.0.0.1:${internal.port}/client`,
      `https://localhost:${internal.port}/client`,
      `https://[::1]:${internal.port}/client`,
      `https://[::ffff:7f00:1]:${internal.port}/client`,
      'https://169.254.169.254/latest/meta-data',
      'https://10.0.0.1/client',
      'https://100.64.0.1/client',
      'https://[fd00::1]/client',
    ]
    for (const id of ids) {
      expect((await app.fetch(authorizePath(tenant, { id }))).status).toBe(400)
      const entry = (await events()).at(-1)
      expect(entry?.detail).toMatchObject({
        client_id: id,
        reason: expect.stringMatching(/public address/),
      })
    }
    // Not client_ids of documents: http and other notations of an address.
    for (const id of [
      `http://127.0.0.1:${internal.port}/client`,
      `http://localhost:${internal.port}/client`,
      `https://2130706433:${internal.port}/client`,
      `https://0x7f.1:${internal.port}/client`,
    ])
      expect((await app.fetch(authorizePath(tenant, { id }))).status).toBe(400)
    expect(internal.connections).toBe(0)
    expect(await dbFor(tenant).client.count({ where: { tenantId: tenant, registeredBy: 'document' } })).toBe(
      0,
    )
  })
})

describe('the keys of a client', () => {
  test('are not fetched from a private address, which registrations and documents cannot name either', async ({
    app,
    tenant,
    newClient,
    events,
    internal,
  }) => {
    const hosts = ['127.0.0.1', 'localhost', '[::1]', '2130706433', '169.254.169.254', '10.0.0.1']
    for (const host of hosts) {
      const jwks_uri = `https://${host}:${internal.port}/keys`
      const client_id = 'https://client.example/'
      const redirect_uris = ['https://client.example/cb']
      const metadata = { client_id, redirect_uris, token_endpoint_auth_method: 'private_key_jwt', jwks_uri }
      const field = { field: 'jwks_uri', description: 'must be on a public address' }
      expect(parseClientDocument(tenant, client_id, metadata).issues).toEqual([field])
      const client = await newClient({ jwksUri: 'https://client.example/keys' })
      const where = { tenantId: tenant, id: client.id }
      await dbFor(tenant).client.updateMany({ where, data: { jwksUri: jwks_uri } })
      const assertion = await makeAssertion(await makeKey(), {
        clientId: client.id,
        audience: issuerOf(tenant),
      })
      const form = { client_assertion_type: JWT_BEARER, client_assertion: assertion }
      const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: 'x', ...form })
      expect((await app.fetch(`/${tenant}/oidc/token`, { method: 'POST', body })).status).toBe(401)
      const [rejection] = await events({ type: 'token.refused', subjectId: client.id })
      expect(rejection?.detail?.reason).toContain('public address')
    }
    expect(internal.connections).toBe(0)
  })
})
