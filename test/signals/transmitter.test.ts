import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { describe, expect } from 'vitest'
import { revokeViewerSessions } from '../../src/account/sessions.ts'
import { updateClient } from '../../src/clients/client-changes.ts'
import { type Ctx, toUserCtx } from '../../src/context/context.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { runCleanup } from '../../src/jobs/cleanup.ts'
import { revokeSession, revokeUserSessions } from '../../src/sessions/revoke-sessions.ts'
import { startSignalFollowing } from '../../src/signals/follow-log.ts'
import { startSignalDeliveries } from '../../src/signals/push.ts'
import { updateSignalStream, verifySignalStream } from '../../src/signals/stream-administration.ts'
import { deleteUser, lockUser, unlockUser, updateUser } from '../../src/users/users.ts'
import { test as base, type SignedInUser } from '../support/backchannel-logout.ts'
import { dbFor, sql } from '../support/database.ts'
import type { Json } from '../support/json.ts'
import { tokenRequest } from '../support/protocol.ts'
import { awaitVisible } from '../support/subscriptions.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/'
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/'
const SSF = 'https://schemas.openid.net/secevent/ssf/event-type/'
const PUSH = 'urn:ietf:rfc:8935'

type Answer = { status: number; headers: Headers; body: Json }

/** `test` with a client that may manage streams, this process sending, and a receiver. */
const test = base
  .extend('hooks', async ({ app: _ }, { onCleanup }) => {
    const receiver = await startWebhookReceiver()
    onCleanup(receiver.close)
    return receiver
  })
  .extend('sending', { auto: true }, async ({ tenant }, { onCleanup }) => {
    await sql('DELETE FROM "SignalStream" WHERE "tenantId" <> $1', [tenant])
    const stops = [startSignalFollowing(), startSignalDeliveries()]
    onCleanup(async () => void (await Promise.all(stops.map((stop) => stop()))))
  })
  .extend(
    'tokenOf',
    ({ app, tenant, platform, clients }) =>
      async (name: 'one' | 'two' = 'one', scope = 'ssf.manage'): Promise<string> => {
        await updateClient(platform, clients[name].id, { scopes: ['ssf.manage', 'ssf.read', 'users:read'] })
        const { body } = await tokenRequest(app, tenant, clients[name], {
          grant_type: 'client_credentials',
          scope,
        })
        return body.access_token ?? ''
      },
  )
  .extend(
    'ssf',
    ({ app, tenant, tokenOf }) =>
      async (method: string, path: string, body?: object, token?: string): Promise<Answer> => {
        const response = await fetch(`${app.origin}/${tenant}/ssf${path}`, {
          method,
          headers: {
            authorization: `Bearer ${token ?? (await tokenOf())}`,
            'content-type': 'application/json',
          },
          ...(body && { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : {} }
      },
  )
  /** Creates a stream, by default one that is polled. */
  .extend('openStream', ({ ssf }) => async (body: object = {}, token?: string): Promise<Json> => {
    const { status, body: stream } = await ssf('POST', '/streams', body, token)
    expect([status, stream]).toEqual([201, expect.any(Object)])
    return stream
  })
  /** Verifies a token as a receiver does; returns its claims. */
  .extend('verify', ({ app, tenant, clients }) => async (token: string, name: 'one' | 'two' = 'one') => {
    const metadata = await (await fetch(`${app.origin}/.well-known/ssf-configuration/${tenant}`)).json()
    const keys = await (await fetch(`${app.origin}${new URL(metadata.jwks_uri).pathname}`)).json()
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer: metadata.issuer,
      audience: clients[name].id,
      typ: 'secevent+jwt',
      requiredClaims: ['jti', 'iat', 'events', 'sub_id'],
    })
    expect([payload.sub, payload.exp, protectedHeader.alg]).toEqual([undefined, undefined, 'ES256'])
    return payload as Json
  })
  /** Polls a stream until `count` events have come, and acknowledges them. */
  .extend(
    'pollAll',
    ({ ssf, tenant, verify }) =>
      async (streamId: string, count: number, token?: string, name: 'one' | 'two' = 'one') => {
        const got: Json[] = []
        let ack: string[] = []
        await awaitVisible(tenant)
        for (const until = Date.now() + 15_000; got.length < count && Date.now() < until; ) {
          const { body } = await ssf('POST', `/streams/${streamId}/poll`, { ack, maxEvents: 3 }, token)
          ack = Object.keys(body.sets)
          for (const set of Object.values(body.sets)) got.push(await verify(String(set), name))
        }
        const { body } = await ssf(
          'POST',
          `/streams/${streamId}/poll`,
          { ack, returnImmediately: true },
          token,
        )
        for (const set of Object.values(body.sets)) got.push(decodeJwt(String(set)))
        return got
      },
  )

const toOwnerCtx = (platform: Ctx, { user }: SignedInUser): Ctx => {
  const own = toUserCtx(platform, { userId: user.id, sessionId: 'session_another' })
  return { ...own, actor: { ...own.actor, oidcScopes: new Set(['account']) } as Ctx['actor'] }
}
const expire = ({ tenant }: Ctx, { sid }: SignedInUser) =>
  sql(`UPDATE "Session" SET "expiresAt" = now() - interval '1 second' WHERE "tenantId" = $1 AND "id" = $2`, [
    tenant,
    sid,
  ])

/** Every way in which a session ends, and who is named for it. */
const ENDS: [name: string, initiator: string, end: (by: SignedInUser, platform: Ctx) => Promise<unknown>][] =
  [
    [
      'the user signs out',
      'user',
      ({ browser, idToken }, { tenant }) =>
        browser.fetch(`/${tenant}/oidc/logout?${new URLSearchParams({ id_token_hint: idToken })}`),
    ],
    ['it is revoked', 'system', ({ sid }, platform) => revokeSession(platform, sid)],
    ['all are revoked', 'system', ({ user }, platform) => revokeUserSessions(platform, user.id)],
    ['the user revokes it', 'user', (by, platform) => revokeViewerSessions(toOwnerCtx(platform, by), {})],
    ['the user is locked', 'system', ({ user }, platform) => lockUser(platform, user.id)],
    ['the user is deleted', 'system', ({ user }, platform) => deleteUser(platform, user.id)],
    [
      'it lapses',
      'policy',
      async (by, platform) => {
        await expire(platform, by)
        await runCleanup()
      },
    ],
  ]

describe('a stream of shared signals (OpenID SSF 1.0)', () => {
  test('has one token for every end of a session of people who use the client, however it ends', async ({
    tenant,
    platform,
    signIn,
    clients,
    openStream,
    pollAll,
    tokenOf,
  }) => {
    const { stream_id: id } = await openStream({ events_requested: [`${CAEP}session-revoked`] })
    const token = await tokenOf('two')
    const { stream_id: other } = await openStream({ events_requested: [`${CAEP}session-revoked`] }, token)
    const ended: [SignedInUser, string][] = []
    for (const [, initiator, end] of ENDS) {
      const person = await signIn(['one'])
      await end(person, platform)
      ended.push([person, initiator])
    }
    const stranger = await signIn(['two'])
    await revokeSession(platform, stranger.sid)
    const tokens = await pollAll(id, ENDS.length)
    expect(tokens.map(({ sub_id, events }) => [sub_id.session.id, sub_id.user.sub, events])).toEqual(
      ended.map(([{ sid, user }, initiating_entity]) => [
        sid,
        user.id,
        {
          [`${CAEP}session-revoked`]: {
            event_timestamp: expect.any(Number),
            initiating_entity,
            reason_admin: { en: expect.any(String) },
          },
        },
      ]),
    )
    expect(tokens[0]?.sub_id).toEqual({
      format: 'complex',
      user: { format: 'iss_sub', iss: issuerOf(tenant), sub: ended[0]?.[0].user.id },
      session: { format: 'opaque', id: ended[0]?.[0].sid },
    })
    expect(tokens[0]?.aud).toBe(clients.one.id)
    const own = await pollAll(other, 1, token, 'two')
    expect(own.map(({ sub_id }) => sub_id.session.id)).toEqual([stranger.sid])
  })

  test('pushes what the specifications describe, in order, and is managed as they say', async ({
    tenant,
    app,
    platform,
    ctx,
    signIn,
    hooks,
    openStream,
    ssf,
    tokenOf,
    verify,
  }) => {
    const paths = [`/.well-known/ssf-configuration/${tenant}`, `/${tenant}/.well-known/ssf-configuration`]
    const [metadata, same] = await Promise.all(
      paths.map(async (path) => (await fetch(`${app.origin}${path}`)).json()),
    )
    expect(metadata).toEqual(same)
    expect(metadata).toMatchObject({
      spec_version: '1_0',
      issuer: issuerOf(tenant),
      delivery_methods_supported: [PUSH, 'urn:ietf:rfc:8936'],
      configuration_endpoint: `${issuerOf(tenant)}/ssf/streams`,
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      default_subjects: 'ALL',
    })
    const person = await signIn(['one'])
    const { id: userId, email } = person.user
    const delivery = {
      method: PUSH,
      endpoint_url: hooks.urlOf('/push'),
      authorization_header: 'Bearer s3cret',
    }
    const created = await openStream({ delivery, description: 'Shop' })
    const id = created.stream_id
    expect(created).toMatchObject({ iss: issuerOf(tenant), delivery: { method: PUSH }, description: 'Shop' })
    expect(JSON.stringify([created, (await ssf('GET', `/streams?stream_id=${id}`)).body])).not.toContain(
      's3cret',
    )
    expect((await ssf('GET', '/streams')).body).toEqual([created])
    await awaitVisible(tenant)
    const claimsAt = (): Promise<Json[]> => Promise.all(hooks.at('/push').map(({ body }) => verify(body)))
    const next = async (count: number) => {
      await expect.poll(() => hooks.at('/push').length, { timeout: 10_000 }).toBe(count)
      return (await claimsAt()).slice(-1)[0] as Json
    }

    expect((await ssf('POST', '/verify', { stream_id: id, state: 'abc' })).status).toBe(204)
    expect(await next(1)).toMatchObject({
      sub_id: { format: 'opaque', id },
      events: { [`${SSF}verification`]: { state: 'abc' } },
    })
    expect((await ssf('POST', '/verify', { stream_id: id })).status).toBe(429)
    const user = { format: 'iss_sub', iss: issuerOf(tenant), sub: userId }
    await updateUser(ctx, userId, { email: `new-${email}`, phoneNumber: '+4930901820' })
    await next(3)
    const [, claims, identifier] = await claimsAt()
    expect([claims, identifier]).toMatchObject([
      { sub_id: user, events: { [`${CAEP}token-claims-change`]: { claims: { email: `new-${email}` } } } },
      {
        sub_id: { format: 'email', email },
        events: { [`${RISC}identifier-changed`]: { 'new-value': `new-${email}` } },
      },
    ])
    // The client was granted openid and email, and not phone.
    expect(JSON.stringify(await claimsAt())).not.toContain('+4930901820')
    const got = hooks.at('/push')[0]
    expect(got?.headers).toMatchObject({
      'content-type': 'application/secevent+jwt',
      accept: 'application/json',
      authorization: 'Bearer s3cret',
    })
    await lockUser(ctx, userId)
    await unlockUser(ctx, userId)
    await next(6)
    const locked = (await claimsAt()).slice(3)
    expect(locked.flatMap(({ events }) => Object.keys(events))).toEqual([
      `${RISC}account-disabled`,
      `${CAEP}session-revoked`,
      `${RISC}account-enabled`,
    ])
    expect(locked[1]?.events[`${CAEP}session-revoked`].initiating_entity).toBe('admin')
    expect(new Set(locked.slice(0, 2).map(({ txn }) => txn)).size).toBe(1)

    // Left out, and had again; an unknown subject is answered alike.
    expect((await ssf('POST', '/subjects/remove', { stream_id: id, subject: user })).status).toBe(204)
    const unknown = { format: 'email', email: 'nobody@example.com' }
    expect((await ssf('POST', '/subjects/remove', { stream_id: id, subject: unknown })).status).toBe(204)
    await lockUser(ctx, userId)
    await awaitVisible(tenant)
    await expect.poll(async () => (await ssf('GET', `/status?stream_id=${id}`)).body.status).toBe('enabled')
    await ssf('POST', '/subjects/add', { stream_id: id, subject: { format: 'complex', user } })

    // Paused, it keeps what happens; the administrator's change is announced.
    const paused = await ssf('POST', '/status', { stream_id: id, status: 'paused', reason: 'Maintenance' })
    expect(paused.body).toEqual({ stream_id: id, status: 'paused', reason: 'Maintenance' })
    await unlockUser(ctx, userId)
    await updateSignalStream(ctx, id, { status: 'enabled' })
    await next(8)
    expect((await claimsAt()).slice(6).map(({ events }) => events)).toEqual(
      expect.arrayContaining([
        { [`${SSF}stream-updated`]: { status: 'enabled' } },
        { [`${RISC}account-enabled`]: {} },
      ]),
    )

    // A change: another receiver does not get the header of the former one.
    const moved = { stream_id: id, delivery: { method: PUSH, endpoint_url: hooks.urlOf('/moved') } }
    expect((await ssf('PATCH', '/streams', moved)).body).toMatchObject({ description: 'Shop' })
    await deleteUser(ctx, userId)
    await expect.poll(() => hooks.at('/moved').length, { timeout: 10_000 }).toBe(1)
    expect(hooks.at('/moved')[0]?.headers.authorization).toBeUndefined()
    expect(Object.keys((await verify(hooks.at('/moved')[0]?.body ?? '')).events)).toEqual([
      `${RISC}account-purged`,
    ])
    const whole = await ssf('PUT', '/streams', { stream_id: id, iss: issuerOf(tenant) })
    expect(whole.body.description).toBeUndefined()
    expect(whole.body.delivery).toEqual({
      method: 'urn:ietf:rfc:8936',
      endpoint_url: `${issuerOf(tenant)}/ssf/streams/${id}/poll`,
    })
    expect((await ssf('PUT', '/streams', { stream_id: id, iss: 'https://other.example' })).status).toBe(400)
    expect((await ssf('DELETE', `/streams?stream_id=${id}`)).status).toBe(204)
    expect((await ssf('GET', `/streams?stream_id=${id}`)).status).toBe(404)
    expect((await ssf('GET', '/streams', undefined, await tokenOf('one', 'ssf.read'))).body).toEqual([])
    expect(platform.tenant).toBe(tenant)
  })

  test('gives strangers, other clients and bad input nothing, within limits', async ({
    app,
    tenant,
    ctx,
    token,
    signIn,
    hooks,
    openStream,
    ssf,
    tokenOf,
    clients,
    events,
  }) => {
    const { accessToken } = await signIn(['one'])
    const { stream_id: id } = await openStream({
      delivery: { method: PUSH, endpoint_url: hooks.urlOf('/a') },
    })
    const [two, reader] = [await tokenOf('two'), await tokenOf('one', 'ssf.read')]
    const statusOf = async (...call: Parameters<typeof ssf>) => (await ssf(...call)).status
    // A token of a user, of management, and of reading.
    expect([
      await statusOf('GET', '/streams', undefined, accessToken),
      await statusOf('GET', '/streams', undefined, token),
      await statusOf('GET', '/streams', undefined, 'none'),
      await statusOf('POST', '/streams', {}, reader),
    ]).toEqual([401, 403, 401, 403])
    // The token of a web client is for streams alone.
    const asked = { grant_type: 'client_credentials', scope: 'users:read' }
    expect((await tokenRequest(app, tenant, clients.one, asked)).body.error).toBe('invalid_scope')
    const elsewhere = { grant_type: 'client_credentials', resource: 'https://api.example' }
    expect((await tokenRequest(app, tenant, clients.one, elsewhere)).body.error).toBe('invalid_target')
    const users = await fetch(`${app.origin}/${tenant}/api/v1/users`, {
      headers: { authorization: `Bearer ${two}` },
    })
    expect(users.status).toBe(403)
    // The stream of another client.
    expect([
      await statusOf('GET', `/streams?stream_id=${id}`, undefined, two),
      await statusOf('PATCH', '/streams', { stream_id: id }, two),
      await statusOf('DELETE', `/streams?stream_id=${id}`, undefined, two),
      await statusOf('POST', '/status', { stream_id: id, status: 'disabled' }, two),
      await statusOf('POST', '/verify', { stream_id: id }, two),
      await statusOf('POST', `/streams/${id}/poll`, {}, two),
      await statusOf(
        'POST',
        '/subjects/remove',
        { stream_id: id, subject: { format: 'opaque', id: 'x' } },
        two,
      ),
    ]).toEqual([404, 404, 404, 404, 404, 404, 404])
    const faulty = await ssf('POST', '/streams', {
      delivery: {
        method: PUSH,
        endpoint_url: 'http://shop.example/signals',
        authorization_header: 'a\r\nb: c',
      },
      events_requested: 'all',
      description: 7,
    })
    expect([faulty.status, faulty.body.error]).toEqual([400, 'invalid_request'])
    for (const name of ['endpoint_url', 'authorization_header', 'events_requested', 'description'])
      expect(faulty.body.error_description).toContain(name)
    expect(await statusOf('POST', '/streams', { description: 'x'.repeat(120_000) })).toBe(413)
    for (let n = 0; n < 3; n++) await openStream()
    expect(await statusOf('POST', '/streams', {})).toBe(409)

    // A receiver that rejects a token is done with it; one that redirects or fails is tried again, alone.
    hooks.answers.set('/a', (response) => response.writeHead(302, { location: hooks.urlOf('/b') }).end())
    await verifySignalStream(ctx, id)
    const ofStream = { tenantId: tenant, streamId: id }
    const row = () =>
      dbFor(tenant).signalStream.findUniqueOrThrow({
        where: { tenantId_id: { tenantId: tenant, id } },
        select: { lastError: true, failingSince: true, status: true },
      })
    await expect.poll(async () => (await row()).lastError).toMatch(/redirected/)
    expect(hooks.at('/b')).toEqual([])
    hooks.answers.set('/a', (response) =>
      response.writeHead(400).end(JSON.stringify({ err: 'invalid_key', description: 'bad\u0000key' })),
    )
    await ssf('PATCH', '/streams', { stream_id: id })
    const rejected = { lastError: 'invalid_key: bad key', failingSince: null, status: 'enabled' }
    await expect.poll(row).toEqual(rejected)
    expect(await dbFor(tenant).signalToken.count({ where: ofStream })).toBe(0)
    // Three days of failures disable it.
    hooks.answers.set('/a', (response) => response.writeHead(503).end())
    const failed = { verifiedAt: null, failingSince: new Date(Date.now() - 3 * 86_400_000) }
    await dbFor(tenant).signalStream.update({
      where: { tenantId_id: { tenantId: tenant, id } },
      data: failed,
    })
    await verifySignalStream(ctx, id)
    await dbFor(tenant).signalToken.updateMany({ where: ofStream, data: { expiresAt: new Date() } })
    await expect.poll(async () => (await row()).status, { timeout: 10_000 }).toBe('disabled')
    expect((await events({ type: 'signal_stream.disabled' })).map(({ subjectIds }) => subjectIds)).toEqual([
      [id, clients.one.id],
    ])
  })
})
