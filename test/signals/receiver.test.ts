import { exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { useLink } from '../../src/idps/idp-sign-in.ts'
import { createIdentityProvider, updateIdentityProvider } from '../../src/idps/idps.ts'
import { storeProviderSession } from '../../src/idps/provider/provider-sessions.ts'
import { rotateSignalsSecret } from '../../src/idps/secrets/signals-secret.ts'
import { revokeSession } from '../../src/sessions/revoke-sessions.ts'
import { startBrowserSession } from '../../src/sessions/sessions.ts'
import { startSignalFollowing } from '../../src/signals/follow-log.ts'
import { startSignalDeliveries } from '../../src/signals/push.ts'
import { createStream } from '../../src/signals/streams.ts'
import { createUser, lockUser, unlockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { test as base } from '../support/backchannel-logout.ts'
import { dbFor, sql } from '../support/database.ts'
import { awaitVisible } from '../support/subscriptions.ts'

const EVENTS = 'https://schemas.openid.net/secevent/'
const ISSUER = 'https://accounts.partner.example'
const keys = await generateKeyPair('ES256', { extractable: true })
const now = () => Math.floor(Date.now() / 1000)

/** `test` with a tenant that receives, beside the one that transmits. */
const test = base
  .extend('home', async ({ app: _ }) => newTenant())
  .extend('homeCtx', ({ home }) => ctxFor(home))
  .extend('addProvider', ({ homeCtx }) => async (more: object = {}) => {
    const id = `idp-${newId('idpuser').slice(-8)}`
    await createIdentityProvider(homeCtx, {
      id,
      type: 'oidc',
      name: 'Partner',
      clientId: 'vestibule',
      issuer: ISSUER,
      idTokenSigningKey: await exportSPKI(keys.publicKey),
      signalsIssuer: `${ISSUER}/`,
      ...more,
    })
    return id
  })
  /** A user with a link to a subject of a provider, and functions that start a session by it and say what it is. */
  .extend('enter', ({ home, homeCtx }) => async (idpId: string, externalId: string, issuer = ISSUER) => {
    const user = await createUser(homeCtx, {
      email: `${externalId.toLowerCase()}@${home}.example`,
      emailVerified: true,
    })
    const ofLink = { tenantId: home, userId: user.id, idpId, issuer, externalId }
    const { id: linkId } = await dbFor(home).idpUser.create({ data: { ...ofLink, id: newId('idpuser') } })
    const platform = createPlatformCtx(home)
    const start = (sid: string) =>
      platform.db.transaction(async (tx) => {
        const proof = { method: 'provider' as const, amr: ['fed'] }
        const { session } = await startBrowserSession(tx, platform, { userId: user.id, proof })
        await storeProviderSession(tx, session.id, { idpId, issuer, subject: externalId, sid, idToken: null })
        return session.id
      })
    const listEnded = async () =>
      (
        await dbFor(home).session.findMany({
          where: { tenantId: home, userId: user.id, endedAt: { not: null } },
        })
      ).map(({ id }) => id)
    const { updatedAt: provenAt } = await dbFor(home).identityProvider.findFirstOrThrow({
      where: { tenantId: home, id: idpId },
    })
    /** Whether the link signs in, as the sign-in decides. */
    const maySignIn = () =>
      platform.db.transaction((tx) =>
        useLink(tx, { idpId, issuer, externalId, userId: user.id, provenAt, now: new Date() }),
      )
    return { user, linkId, start, listEnded, maySignIn }
  })
  .extend('post', ({ app, home }) => async (idpId: string, token: string, headers: object = {}) => {
    const response = await fetch(`${app.origin}/${home}/ssf/events/${idpId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/secevent+jwt', accept: 'application/json', ...headers },
      body: token,
    })
    const text = await response.text()
    return { status: response.status, err: text ? (JSON.parse(text).err ?? text) : null }
  })

type Signing = { typ?: string | undefined; key?: Parameters<SignJWT['sign']>[0]; alg?: string }
const sign = (
  claims: JWTPayload,
  { typ = 'secevent+jwt', key = keys.privateKey, alg = 'ES256' }: Signing = {},
) =>
  new SignJWT({ iss: `${ISSUER}/`, aud: 'vestibule', iat: now(), jti: newId('signal'), ...claims })
    .setProtectedHeader({ alg, ...(typ && { typ }) })
    .sign(key)

describe('shared signals of an identity provider', () => {
  test('of one tenant of this service end sessions of another, and reject its link until the account is enabled', async ({
    app,
    tenant,
    platform,
    clients,
    signIn,
    home,
    homeCtx,
    addProvider,
    enter,
    events,
  }) => {
    await sql('DELETE FROM "SignalStream" WHERE "tenantId" <> $1', [tenant])
    const stops = [startSignalFollowing(), startSignalDeliveries()]
    try {
      const issuer = issuerOf(tenant)
      const jwksUri = `${app.origin}/${tenant}/.well-known/jwks.json`
      const ofTenant = {
        issuer,
        jwksUri,
        clientId: clients.one.id,
        idTokenSigningKey: undefined,
        signalsIssuer: issuer,
      }
      const idpId = await addProvider(ofTenant)
      const { secret } = await rotateSignalsSecret(homeCtx, idpId)
      await updateClient(platform, clients.one.id, { scopes: ['ssf.manage'] })
      const url = `${app.origin}/${home}/ssf/events/${idpId}`
      const stream = { delivery: 'push' as const, url, description: null, eventsRequested: [] }
      await createStream(platform, clients.one.id, { ...stream, authorization: `Bearer ${secret}` })
      await awaitVisible(tenant)
      const person = await signIn(['one'])
      const { start, listEnded, maySignIn } = await enter(idpId, person.user.id, issuer)
      const [first, second] = [await start(person.sid), await start('another')]
      await revokeSession(platform, person.sid)
      await expect.poll(listEnded, { timeout: 10_000 }).toEqual([first])
      expect(await maySignIn()).toBe(true)
      await lockUser(platform, person.user.id)
      await expect
        .poll(async () => (await listEnded()).sort(), { timeout: 10_000 })
        .toEqual([first, second].sort())
      await expect.poll(maySignIn, { timeout: 10_000 }).toBe(false)
      await unlockUser(platform, person.user.id)
      await expect.poll(maySignIn, { timeout: 10_000 }).toBe(true)
      expect((await events({ type: 'signal_stream.failing' })).length).toBe(0)
    } finally {
      await Promise.all(stops.map((stop) => stop()))
    }
  })

  test('are understood as the specifications, Google and drafts write them', async ({
    home,
    homeCtx,
    addProvider,
    enter,
    post,
  }) => {
    const idpId = await addProvider()
    const { user, start, listEnded, maySignIn } = await enter(idpId, '7375626A656374')
    const accept = async (claims: JWTPayload, typ?: string) =>
      expect(await post(idpId, await sign(claims, { typ }))).toEqual({ status: 202, err: null })
    const iss_sub = { format: 'iss_sub', iss: ISSUER, sub: '7375626A656374' }
    const revoked = {
      event_timestamp: 1615304991,
      initiating_entity: 'policy',
      reason_admin: { en: 'Policy Violation' },
    }
    // CAEP 1.0, section 3.1.2: an opaque session; user and session; and a user.
    const sessions = [
      await start('dMTlD|1600802906337.16|16008.16'),
      await start('s2'),
      await start('s3'),
      await start('s4'),
    ]
    await accept({
      sub_id: { format: 'opaque', id: 'dMTlD|1600802906337.16|16008.16' },
      events: { [`${EVENTS}caep/event-type/session-revoked`]: revoked },
    })
    expect(await listEnded()).toEqual(sessions.slice(0, 1))
    await accept({
      aud: ['https://sp.example2.net/caep', `${issuerOf(home)}/ssf/events/${idpId}`],
      sub_id: {
        format: 'complex',
        session: { format: 'opaque', id: 's2' },
        user: iss_sub,
        tenant: { format: 'opaque', id: '123456789' },
      },
      events: { [`${EVENTS}caep/event-type/session-revoked`]: revoked },
    })
    expect((await listEnded()).sort()).toEqual(sessions.slice(0, 2).sort())
    // By address, as some transmitters do; of a link of this provider alone.
    await accept({
      sub_id: { format: 'email', email: `nobody@${home}.example` },
      events: { [`${EVENTS}caep/event-type/session-revoked`]: revoked },
    })
    expect((await listEnded()).length).toBe(2)
    await accept({
      sub_id: { format: 'email', email: user.email },
      events: { [`${EVENTS}caep/event-type/session-revoked`]: revoked },
    })
    expect((await listEnded()).sort()).toEqual([...sessions].sort())
    // Google, "Protect user accounts with Cross-Account Protection": no typ, subject in the event.
    const subject = { subject_type: 'iss-sub', iss: `${ISSUER}/`, sub: '7375626A656374' }
    await accept(
      { events: { [`${EVENTS}risc/event-type/account-disabled`]: { subject, reason: 'hijacking' } } },
      '',
    )
    expect(await maySignIn()).toBe(false)
    await accept(
      { iat: now() - 600, events: { [`${EVENTS}risc/event-type/account-enabled`]: { subject } } },
      '',
    )
    // It is older than the one that disabled the account.
    expect(await maySignIn()).toBe(false)
    await accept({ events: { [`${EVENTS}risc/event-type/account-enabled`]: { subject } } }, '')
    expect(await maySignIn()).toBe(true)
    await accept({ events: { [`${EVENTS}risc/event-type/verification`]: { state: 'Test token' } } }, '')
    await accept({
      sub_id: iss_sub,
      events: { [`${EVENTS}caep/event-type/device-compliance-change`]: { current_status: 'not-compliant' } },
    })
    const received = await dbFor(home).event.findMany({
      where: { tenantId: home, type: 'idp.signal_received' },
      orderBy: { seq: 'asc' },
    })
    expect(received.map(({ detail }) => detail)).toMatchObject([
      { type: 'session-revoked', sessions: 1 },
      { type: 'session-revoked', sessions: 1 },
      { type: 'session-revoked', sessions: 0 },
      { type: 'session-revoked', sessions: 2 },
      { type: 'account-disabled', sessions: 0 },
      { type: 'account-enabled', sessions: 0 },
      { type: 'account-enabled', sessions: 0 },
      { type: 'verification', sessions: 0 },
    ])
    await updateIdentityProvider(homeCtx, idpId, { signalsIssuer: null })
    expect((await post(idpId, await sign({ sub_id: iss_sub, events: { x: {} } }))).status).toBe(400)
  })

  test('are rejected when forged, replayed, foreign, confused, too old or too large', async ({
    homeCtx,
    home,
    addProvider,
    enter,
    post,
  }) => {
    const idpId = await addProvider()
    const other = await addProvider({
      signalsIssuer: 'https://other.example',
      issuer: 'https://other.example',
    })
    const { start, listEnded } = await enter(idpId, 'ada')
    const first = await start('s1')
    const sub_id = { format: 'iss_sub', iss: ISSUER, sub: 'ada' }
    const events = { [`${EVENTS}caep/event-type/session-revoked`]: {} }
    const good = { sub_id, events }
    const foreign = await generateKeyPair('ES256')
    const pem = new TextEncoder().encode(await exportSPKI(keys.publicKey))
    const unsigned = [
      { alg: 'none', typ: 'secevent+jwt' },
      { ...good, iss: `${ISSUER}/`, aud: 'vestibule', iat: now(), jti: 'x' },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const attempts: [token: string, err: string, provider?: string][] = [
      [await sign(good, { key: foreign.privateKey }), 'invalid_key'],
      [await sign(good, { key: pem, alg: 'HS256' }), 'invalid_key'],
      [`${unsigned}.`, 'invalid_key'],
      ['not a token', 'invalid_key'],
      [await sign({ ...good, iss: ISSUER }), 'invalid_issuer'],
      [await sign({ ...good, aud: 'another' }), 'invalid_audience'],
      [await sign(good), 'invalid_issuer', other],
      // An ID token, a logout token and an access token of the provider.
      [await sign({ ...good, sub: 'ada' }), 'invalid_request'],
      [await sign({ ...good, exp: now() + 60 }), 'invalid_request'],
      [await sign({ ...good, nonce: 'n' }), 'invalid_request'],
      [await sign(good, { typ: 'logout+jwt' }), 'invalid_request'],
      [await sign(good, { typ: 'at+jwt' }), 'invalid_request'],
      [await sign({ ...good, iat: now() - 8 * 86_400 }), 'invalid_request'],
      [await sign({ ...good, iat: now() + 3600 }), 'invalid_request'],
      [await sign({ ...good, jti: 'x'.repeat(256) }), 'invalid_request'],
      [await sign({ ...good, events: [] as never }), 'invalid_request'],
      [
        await sign({
          ...good,
          events: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`e${n}`, {}])),
        }),
        'invalid_request',
      ],
      [await sign({ ...good, sub_id: { ...sub_id, iss: 'https://other.example' } }), 'invalid_request'],
      [
        await sign({ ...good, sub_id: { format: 'iss_sub', iss: ISSUER, sub: { $ne: 1 } } }),
        'invalid_request',
      ],
      [await sign(good), 'invalid_request', 'unknown'],
    ]
    for (const [token, err, provider = idpId] of attempts)
      expect([token.slice(0, 40), await post(provider, token)]).toEqual([
        token.slice(0, 40),
        { status: 400, err },
      ])
    expect((await post(idpId, 'x'.repeat(20_001))).status).toBe(413)
    expect((await post(idpId, await sign(good), { 'content-type': 'application/json' })).status).toBe(415)
    const { secret } = await rotateSignalsSecret(homeCtx, idpId)
    expect((await post(idpId, await sign(good))).status).toBe(401)
    expect((await post(idpId, await sign(good), { authorization: `Bearer ${secret}x` })).status).toBe(401)
    expect(await listEnded()).toEqual([])
    // A replayed token is accepted and changes nothing.
    const token = await sign(good)
    const authorization = `Bearer ${secret}`
    await Promise.all([1, 2, 3].map(() => post(idpId, token, { authorization })))
    expect(await listEnded()).toEqual([first])
    await start('s1')
    expect((await post(idpId, token, { authorization })).status).toBe(202)
    expect(await listEnded()).toEqual([first])
    const log = JSON.stringify(await dbFor(home).event.findMany({ where: { tenantId: home } }), (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(log).not.toContain(secret)
  })
})
