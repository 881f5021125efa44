import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Email } from 'postal-mime'
import { describe, expect, vi } from 'vitest'
import { loadMessageTenant } from '../../src/access/message-tenant.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { deliverMessage } from '../../src/delivery/deliver-message.ts'
import { buildTestMessage } from '../../src/delivery/messages/test-message.ts'
import { sendByOwnMailServer } from '../../src/delivery/own-mail-server.ts'
import type { OwnServers } from '../../src/delivery/own-servers.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { getSetup } from '../../src/tenants/tenant-setup.ts'
import { testDelivery } from '../../src/tenants/test-delivery.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { startMailServer } from '../support/mail-server.ts'
import { messageFrame } from '../support/mails.ts'
import { test as base } from '../support/tenant-per-test.ts'

const deployment = await vi.hoisted(async () =>
  (await import('../support/message-servers.ts')).startMessageServers(),
)

const SERVER_PASSWORD = 'correct horse'

const test = base
  /** The mail server of the tenant, which asks for a password. */
  .extend('own', async ({ app: _ }, { onCleanup }) => {
    const mails: { from: string; to: string[]; email: Email }[] = []
    const own = {
      mails,
      isHolding: false,
      isRejecting: false,
      sockets: new Set<Socket>(),
      mostOpen: 0,
      url: '',
    }
    const server = await startMailServer(
      async (email, to, from) => {
        if (own.isHolding) await new Promise(() => {})
        if (own.isRejecting) throw Object.assign(new Error('quota\u0007 exceeded'), { responseCode: 452 })
        mails.push({ from, to, email })
      },
      {
        authOptional: false,
        allowInsecureAuth: true,
        onAuth: ({ username, password }, _session, done) =>
          username === 'shop' && password === SERVER_PASSWORD
            ? done(null, { user: username })
            : done(new Error(`wrong password ${password}`)),
      },
    )
    server.server.on('connection', (socket: Socket) => {
      own.sockets.add(socket.on('close', () => own.sockets.delete(socket)))
      own.mostOpen = Math.max(own.mostOpen, own.sockets.size)
    })
    onCleanup(() => {
      for (const socket of own.sockets) socket.destroy()
      return server.close()
    })
    own.url = server.url
    return own
  })
  /** Sets the servers of the tenant. */
  .extend('settings', ({ own, rest }) => ({
    mail: {
      mailServer: own.url,
      mailServerUser: 'shop',
      mailServerPassword: SERVER_PASSWORD,
      mailSenderAddress: 'id@shop.example',
    },
    change: (body: object) => rest('PATCH', '/settings', body),
  }))
  .extend('admin', async ({ tenant, ctx }) => {
    const email = `grace@${tenant}.example`
    const { id: userId } = await createUser(ctx, { email, emailVerified: true })
    return {
      ...ctx,
      actor: { kind: 'user' as const, tenant, userId, clientId: null, sessionId: null, grantId: null },
    }
  })

const sendTo = async (tenant: string, channel: 'email' | 'sms', to: string): Promise<void> =>
  deliverMessage(
    { channel, to },
    buildTestMessage({ ...messageFrame, tenant: await loadMessageTenant(tenant) }),
  )

const UNAVAILABLE = { code: 'UNAVAILABLE' }

describe('the mail server of a tenant', () => {
  test('sends its mails from any address, and never those of another tenant, with the outcome in words', async ({
    own,
    settings,
    tenant,
    admin,
  }) => {
    deployment.reset()
    expect((await settings.change(settings.mail)).status).toBe(200)
    await expect(testDelivery(admin, { channel: 'email' })).resolves.toEqual({
      to: `grace@${tenant}.example`,
      delivered: true,
      outcome: expect.stringContaining('The server accepted the message: 250'),
    })
    expect(own.mails).toMatchObject([
      {
        from: 'id@shop.example',
        to: [`grace@${tenant}.example`],
        email: { from: { address: 'id@shop.example' } },
      },
    ])
    await sendTo(await newTenant(), 'email', 'ada@example.com')
    expect(deployment.mails.map(({ to }) => to)).toEqual([['ada@example.com']])
    await settings.change({ mailServerUser: 'shop', mailServerPassword: 'wrong' })
    await expect(testDelivery(admin, { channel: 'email' })).resolves.toMatchObject({
      delivered: false,
      outcome: 'The server did not accept the user and the password (535).',
    })
    await expect(testDelivery(createPlatformCtx(tenant), { channel: 'email' })).rejects.toThrow(
      'you have none',
    )
    expect([own.mails.length, deployment.mails.length]).toEqual([1, 1])
  })

  test('is tried twice and is never replaced while it fails, of which the log and the setup know once', async ({
    own,
    settings,
    tenant,
    ctx,
    admin,
    events,
  }) => {
    deployment.reset()
    await settings.change(settings.mail)
    own.isRejecting = true
    await Promise.all(
      [1, 2].map(() => expect(sendTo(tenant, 'email', 'ada@example.com')).rejects.toMatchObject(UNAVAILABLE)),
    )
    await expect(testDelivery(admin, { channel: 'email' })).resolves.toMatchObject({
      outcome: 'The server answered: 452 quota exceeded',
    })
    await awaitDeliveries()
    const findStep = async () => (await getSetup(ctx)).setup.find(({ item }) => item === 'own-mail-server')
    expect(await findStep()).toMatchObject({ done: false })
    own.isRejecting = false
    await sendTo(tenant, 'email', 'ada@example.com')
    await awaitDeliveries()
    expect(await findStep()).toMatchObject({ done: true })
    const recorded = (await events()).filter(({ type }) => type.startsWith('tenant.delivery'))
    expect(recorded.map(({ type, detail }) => [type, detail])).toEqual([
      ['tenant.delivery_failing', { channel: 'email' }],
      ['tenant.delivery_recovered', { channel: 'email' }],
    ])
    expect([own.mails.length, deployment.mails.length]).toEqual([1, 0])
  })

  test('holds four connections when it hangs, and delays no other tenant', async ({
    own,
    settings,
    tenant,
  }) => {
    deployment.reset()
    await settings.change(settings.mail)
    own.isHolding = true
    const sent = Array.from({ length: 8 }, () =>
      sendTo(tenant, 'email', 'ada@example.com').then(
        () => 'sent',
        (error) => error.code,
      ),
    )
    await vi.waitFor(() => expect(own.sockets.size).toBe(4), 5000)
    const began = Date.now()
    await sendTo(await newTenant(), 'email', 'bob@example.com')
    expect(Date.now() - began).toBeLessThan(2000)
    expect(own.mostOpen).toBe(4)
    own.isHolding = false
    for (const socket of own.sockets) socket.destroy()
    expect(await Promise.all(sent)).toEqual(Array(8).fill('sent'))
  })

  test('that never answers is left after ten seconds, with its connection', async ({
    own,
    settings,
    tenant,
  }) => {
    await settings.change(settings.mail)
    own.isHolding = true
    const { servers } = await loadMessageTenant(tenant)
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    // The limit passes at a twentieth of its time.
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 20))
    const mail = { from: 'id@shop.example', to: 'ada@example.com', text: '' }
    await expect(sendByOwnMailServer(servers as OwnServers, mail)).rejects.toThrow(
      'The server did not answer within 10 seconds.',
    )
    expect(spy).toHaveBeenCalledWith(10_000)
    spy.mockRestore()
    await vi.waitFor(() => expect(own.sockets.size).toBe(0))
  })
})

describe('the gateway of a tenant', () => {
  test('gets its text messages with the token, and its status is the outcome', async ({
    settings,
    tenant,
    admin,
    ctx,
  }) => {
    deployment.reset()
    const got: unknown[] = []
    let status = 200
    const gateway = createServer(async (request, response) => {
      got.push([request.headers.authorization, await json(request)])
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end()
    }).listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    const smsGatewayUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/`
    await settings.change({ smsGatewayUrl, smsGatewayToken: 'token-of-shop', passcodeChannels: ['sms'] })
    await dbFor(tenant).user.updateMany({
      where: { tenantId: tenant },
      data: { phoneNumber: '+41791234567', phoneNumberKey: '+41791234567', phoneNumberVerified: true },
    })
    const answers = async () => (await testDelivery(admin, { channel: 'sms' })).outcome
    expect(await answers()).toBe('The gateway answered with status 200.')
    expect(got).toEqual([
      ['Bearer token-of-shop', { to: '+41791234567', body: expect.stringContaining(tenant) }],
    ])
    status = 302
    expect(await answers()).toBe('The gateway redirects elsewhere.')
    status = 401
    expect(await answers()).toBe('The gateway answered with status 401.')
    gateway.close()
    gateway.closeAllConnections()
    expect(await answers()).toBe('The gateway could not be reached.')
    expect(deployment.texts).toEqual([])
    await awaitDeliveries()
    expect((await getSetup(ctx)).setup).toContainEqual({ item: 'own-sms-gateway', done: false, dueAt: null })
  })
})

describe('the settings of the servers', () => {
  test('need every scope, because they decide who receives the codes of administrators', async ({
    ctx,
    settings,
  }) => {
    const limited = { ...ctx, scopes: new Set(['tenant:write'] as const) }
    const gateway = { smsGatewayUrl: 'https://sms.example', smsGatewayToken: 'token' }
    for (const change of [settings.mail, gateway])
      await expect(updateSettings(limited, change)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(updateSettings(limited, { friendlyName: 'Shop' })).resolves.toMatchObject({
      friendlyName: 'Shop',
    })
  })

  test('keep their secrets, which must be given again with another server', async ({
    settings,
    events,
    gql,
    tenant,
  }) => {
    const { mail, change } = settings
    const gateway = { smsGatewayUrl: 'https://sms.example/send', smsGatewayToken: 'token-of-shop' }
    const answer = await change({ ...mail, ...gateway })
    const read = await gql('{ tenant { settings { mailServer mailServerUser smsGatewayUrl } } }')
    const shown = {
      mailServer: mail.mailServer,
      mailServerUser: 'shop',
      smsGatewayUrl: gateway.smsGatewayUrl,
    }
    expect(answer.body).toMatchObject(shown)
    expect(read.body.data.tenant.settings).toEqual(shown)
    const [stored] = await dbFor(tenant).tenant.findMany({ where: { tenantId: tenant } })
    const log = await events()
    expect(log.at(-1)?.changedFields).toEqual(
      expect.arrayContaining(['mailServerPassword', 'smsGatewayToken']),
    )
    for (const text of [answer.body, read.body, log, stored].map((value) => JSON.stringify(value)))
      for (const secret of [SERVER_PASSWORD, gateway.smsGatewayToken]) expect(text).not.toContain(secret)
    const refused = async (body: object) =>
      (await change(body)).body.fields?.map(({ field }: { field: string }) => field)
    expect(await refused({ mailServer: 'smtps://evil.example' })).toEqual(['mailServerPassword'])
    expect(await refused({ mailServerUser: 'eve' })).toEqual(['mailServerPassword'])
    expect(await refused({ smsGatewayUrl: 'https://evil.example/' })).toEqual(['smsGatewayToken'])
    expect(await refused({ mailSenderAddress: null })).toEqual(['mailSenderAddress'])
    expect(await refused({ mailServer: null, mailServerUser: null })).toEqual(['mailSenderAddress'])
    expect(
      await refused({
        mailServer: 'smtp://user:secret@mail.example',
        mailServerUser: 'a\r\nRCPT TO:<eve@evil.example>',
        mailServerPassword: 'a\nb',
        smsGatewayUrl: 'ftp://sms.example',
        smsGatewayToken: 'a\r\nx: y',
      }),
    ).toEqual(
      expect.arrayContaining([
        'mailServer',
        'mailServerUser',
        'mailServerPassword',
        'smsGatewayUrl',
        'smsGatewayToken',
      ]),
    )
    await change({ mailServer: null, mailServerUser: null, mailSenderAddress: null, smsGatewayUrl: null })
    expect(await dbFor(tenant).tenant.findMany({ where: { tenantId: tenant } })).toMatchObject([
      { mailServerPassword: null, smsGatewayToken: null },
    ])
  })
})
