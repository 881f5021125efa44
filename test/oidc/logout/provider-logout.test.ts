import { randomUUID } from 'node:crypto'
import { type JWTPayload, UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../../src/core/scopes.ts'
import { buildBackchannelLogoutUrl } from '../../../src/idps/callback-url.ts'
import { createIdentityProvider } from '../../../src/idps/idps.ts'
import { createTenant } from '../../../src/invitations/create-tenant.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { dbFor } from '../../support/database.ts'
import { answerIn } from '../../support/protocol.ts'
import { test as base, type SignInProvider } from '../../support/provider-sign-in.ts'
import { equipOwner, readSetupSecret } from '../../support/second-factor.ts'
import { hasServices } from '../../support/services.ts'
import { newSlug } from '../../support/tenants.ts'
import { computeTotp } from '../../support/totp.ts'

const LOGOUT_EVENT = { 'http://schemas.openid.net/event/backchannel-logout': {} }
const now = () => Math.floor(Date.now() / 1000)

/** The claims of a logout token of a provider. */
const claimsFor = ({ upstream }: SignInProvider, more: JWTPayload = {}): JWTPayload => ({
  iss: upstream.issuer,
  aud: 'vestibule',
  iat: now(),
  exp: now() + 120,
  jti: randomUUID(),
  events: LOGOUT_EVENT,
  ...more,
})

const test = base
  /** Posts a logout token to the endpoint of a provider. */
  .extend('postToken', ({ app, tenant }) => async (idpId: string, token: string, slug = tenant) => {
    const { pathname } = new URL(buildBackchannelLogoutUrl(slug, idpId))
    const response = await fetch(`${app.origin}${pathname}`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    })
    return { response, status: response.status, body: (await response.json()) as Record<string, unknown> }
  })
  /** Signs `person` in at a provider; returns the session here and there. */
  .extend('enter', ({ tenant, person, subject, provider, link, signInBy }) => async () => {
    await link(person.id, provider, subject)
    const { location } = await signInBy(provider.id, subject)
    const { idpId, sessionId, sid } = await dbFor(tenant).providerSession.findFirstOrThrow({
      where: { tenantId: tenant, subject },
    })
    return { idpId, sessionId, sid: sid as string, code: answerIn(location).code ?? '' }
  })
  .extend('readSession', ({ tenant }) => async (id: string) => {
    const where = { tenantId_id: { tenantId: tenant, id } }
    const { endedAt, endReason } = await dbFor(tenant).session.findUniqueOrThrow({ where })
    return { isEnded: endedAt !== null, endReason }
  })

const ENDED = { isEnded: true, endReason: 'logout' }
const ACTIVE = { isEnded: false, endReason: null }

describe.runIf(hasServices)(
  'a logout token of an identity provider (OpenID Connect Back-Channel Logout 1.0)',
  () => {
    test('ends the session that came from the session there, and what was issued in it', async ({
      subject,
      provider,
      oidc,
      events,
      enter,
      readSession,
    }) => {
      const { sessionId, sid, code } = await enter()
      const { body } = await oidc.exchange(code)
      expect(body.refresh_token ?? body.access_token).toEqual(expect.any(String))
      await provider.upstream.logOut(subject, sid)
      expect(await readSession(sessionId)).toEqual(ENDED)
      const ended = (await events({ type: 'session.ended' })).filter((event) => event.sessionId === sessionId)
      expect(ended).toMatchObject([{ detail: { reason: 'logout' } }])
      const revoked = (await events({ type: 'grant.revoked' })).filter(
        (event) => event.sessionId === sessionId,
      )
      expect(revoked).toMatchObject([{ detail: { reason: 'logout' } }])
    })

    test('with a sid ends only that session, and with a subject all of the subject', async ({
      tenant,
      subject,
      provider,
      newBrowser,
      enter,
      signInBy,
      postToken,
      readSession,
    }) => {
      const first = await enter()
      await signInBy(provider.id, subject, newBrowser())
      await signInBy(provider.id, subject, newBrowser())
      const all = await dbFor(tenant).providerSession.findMany({ where: { tenantId: tenant, subject } })
      const others = all.map(({ sessionId }) => sessionId).filter((id) => id !== first.sessionId)
      expect(others).toHaveLength(2)
      const { upstream } = provider
      const bySid = await upstream.sign(claimsFor(provider, { sid: first.sid }), { typ: 'logout+jwt' })
      expect(await postToken(provider.id, bySid)).toMatchObject({ status: 200, body: {} })
      expect(await readSession(first.sessionId)).toEqual(ENDED)
      for (const id of others) expect(await readSession(id)).toEqual(ACTIVE)
      const bySubject = await upstream.sign(claimsFor(provider, { sub: subject }))
      const answer = await postToken(provider.id, bySubject)
      expect(answer.status).toBe(200)
      expect(answer.response.headers.get('cache-control')).toBe('no-store')
      for (const id of others) expect(await readSession(id)).toEqual(ENDED)
    })

    test.for(['presented', 'set up'] as const)(
      'ends a session that a second factor completed: %s',
      async (how, { ctx, tenant, person, subject, provider, browser, link, signInBy, readSession }) => {
        await link(person.id, provider, subject)
        const owner = how === 'presented' ? await equipOwner(ctx, person) : null
        await updateSettings(ctx, { secondFactor: 'required' })
        const page = await signInBy(provider.id, subject)
        await updateSettings(ctx, { secondFactor: null })
        const secret = owner?.totp.secret ?? readSetupSecret(page.html)
        await browser.submit(page, { step: 'totp', code: computeTotp(secret) })
        const { sessionId, sid } = await dbFor(tenant).providerSession.findFirstOrThrow({
          where: { tenantId: tenant, subject },
        })
        await provider.upstream.logOut(subject, sid as string)
        expect(await readSession(sessionId)).toEqual(ENDED)
      },
    )

    test('leaves sessions that came from elsewhere alone', async ({
      tenant,
      person,
      subject,
      provider,
      oidc,
      newBrowser,
      enter,
      readSession,
    }) => {
      const { sessionId, sid } = await enter()
      await oidc.signIn(newBrowser(), person.email)
      await provider.upstream.logOut(subject, sid)
      const open = await dbFor(tenant).session.findMany({
        where: { tenantId: tenant, userId: person.id, kind: 'browser', endedAt: null },
      })
      expect(open).toMatchObject([{ proofs: [{ method: 'passcode' }] }])
      expect(await readSession(sessionId)).toEqual(ENDED)
    })

    test.for([
      ['an unknown sid', { sid: 'unknown' }],
      ['an unknown subject', { sub: 'unknown' }],
    ])('about %s is a success: no session is left to end', async ([, named], { provider, postToken }) => {
      const token = await provider.upstream.sign(claimsFor(provider, named as JWTPayload))
      expect((await postToken(provider.id, token)).status).toBe(200)
    })

    test('about the sid of one subject and another sub ends nothing', async ({
      provider,
      enter,
      postToken,
      readSession,
    }) => {
      const { sessionId, sid } = await enter()
      const token = await provider.upstream.sign(claimsFor(provider, { sid, sub: 'someone-else' }))
      expect((await postToken(provider.id, token)).status).toBe(200)
      expect(await readSession(sessionId)).toEqual(ACTIVE)
    })

    test.for([
      ['another audience', { aud: 'another' }],
      ['another issuer', { iss: 'https://other.example' }],
      ['a nonce', { nonce: 'n' }],
      ['no jti', { jti: undefined }],
      ['no events', { events: undefined }],
      ['another event', { events: { 'https://other.example/event': {} } }],
      [
        'an event that is not an object',
        { events: { 'http://schemas.openid.net/event/backchannel-logout': 'x' } },
      ],
      ['neither sid nor sub', { sid: undefined }],
      ['a sid that is not a text', { sid: 1 }],
      ['no iat', { iat: undefined }],
      ['no exp', { exp: undefined }],
      ['an exp that has passed', { iat: now() - 300, exp: now() - 200 }],
      ['an old iat', { iat: now() - 3600, exp: now() + 3600 }],
      ['an iat in the future', { iat: now() + 3600, exp: now() + 7200 }],
    ] as [string, Record<string, unknown>][])(
      'with %s is rejected with 400, and ends nothing',
      async ([, change], { provider, events, enter, postToken, readSession }) => {
        const { sessionId, sid } = await enter()
        const token = await provider.upstream.sign({ ...claimsFor(provider, { sid }), ...change })
        const { status, body } = await postToken(provider.id, token)
        expect({ status, body }).toEqual({
          status: 400,
          body: { error: 'invalid_request', error_description: expect.stringContaining('logout_token') },
        })
        expect(await readSession(sessionId)).toEqual(ACTIVE)
        const [refused] = (await events({ type: 'token.refused' })).slice(-1)
        expect(refused?.detail).toMatchObject({ endpoint: 'backchannel-logout/:idp', idp: provider.id })
        expect(JSON.stringify(refused)).not.toContain(token)
      },
    )

    test('is rejected unsigned, with a foreign signature, or typed as another token', async ({
      provider,
      providerB,
      enter,
      postToken,
      readSession,
    }) => {
      const { sessionId, sid } = await enter()
      const claims = claimsFor(provider, { sid })
      const signed = await provider.upstream.sign(claims)
      const tokens = [
        new UnsecuredJWT(claims).encode(),
        `${signed.slice(0, -8)}AAAAAAAA`,
        await provider.upstream.sign(claims, { typ: 'at+jwt' }),
        // Of B at the endpoint of A: the keys are the same here, the issuer is not.
        await providerB.upstream.sign(claimsFor(providerB, { sid })),
        '',
        'x',
      ]
      for (const token of tokens) expect((await postToken(provider.id, token)).status).toBe(400)
      expect(await readSession(sessionId)).toEqual(ACTIVE)
    })

    test('is accepted once, also of 10 at a time', async ({ provider, enter, postToken, readSession }) => {
      const { sessionId, sid } = await enter()
      const token = await provider.upstream.sign(claimsFor(provider, { sid }))
      const answers = await Promise.all(Array.from({ length: 10 }, () => postToken(provider.id, token)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)])
      expect(await readSession(sessionId)).toEqual(ENDED)
    })

    test('ends nothing in another tenant, or at another provider of the same issuer', async ({
      ctx,
      tenant,
      provider,
      enter,
      postToken,
      readSession,
    }) => {
      const { sessionId, sid } = await enter()
      const { upstream } = provider
      const other = newSlug()
      await createTenant(createPlatformCtx(SYSTEM_TENANT), { slug: other })
      const fields = { type: 'oidc', name: 'Same', issuer: upstream.issuer, ...upstream.client }
      await createIdentityProvider(createPlatformCtx(other), { ...fields, id: provider.id })
      await createIdentityProvider(ctx, { ...fields, id: 'same-issuer' })
      for (const [slug, idpId] of [
        [other, provider.id],
        [tenant, 'same-issuer'],
      ] as const) {
        const token = await upstream.sign(claimsFor(provider, { sid }))
        expect((await postToken(idpId, token, slug)).status).toBe(200)
      }
      const unknown = await upstream.sign(claimsFor(provider, { sid }))
      expect((await postToken('unknown', unknown)).status).toBe(400)
      expect(await readSession(sessionId)).toEqual(ACTIVE)
    })

    test('is answered with 400 within 3 s when the provider does not publish its keys', async ({
      newProvider,
      postToken,
    }) => {
      const silent = await newProvider()
      silent.upstream.before.set('/jwks', () => true)
      const token = await silent.upstream.sign(claimsFor(silent, { sid: 'x' }))
      const start = Date.now()
      expect((await postToken(silent.id, token)).status).toBe(400)
      expect(Date.now() - start).toBeLessThan(5000)
    })

    test('counts in the limit of the network when it is rejected, and causes no request over it', async ({
      ctx,
      newProvider,
      postToken,
    }) => {
      const limited = await newProvider()
      await updateSettings(ctx, { networkFailureLimit: 10 })
      try {
        const answers = []
        for (let count = 0; count < 100 && answers.at(-1) !== 429; count++)
          answers.push((await postToken(limited.id, 'x')).status)
        expect(answers.at(-1)).toBe(429)
        let requests = 0
        limited.upstream.before.set('/jwks', () => {
          requests++
          return false
        })
        const token = await limited.upstream.sign(claimsFor(limited, { sid: 'x' }))
        expect((await postToken(limited.id, token)).status).toBe(429)
        expect(requests).toBe(0)
      } finally {
        await updateSettings(ctx, { networkFailureLimit: null })
      }
    })
  },
)
