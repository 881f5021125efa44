import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { lockUser } from '../../../../src/users/users.ts'
import { dbFor } from '../../../support/database.ts'
import { answerIn } from '../../../support/protocol.ts'
import { readTransfer, test } from '../../../support/provider-sign-in.ts'

describe('a sign-in at an identity provider', () => {
  test('issues a code to the client of a linked user', async ({
    tenant,
    person,
    provider,
    oidc,
    events,
    link,
    signInBy,
  }) => {
    await link(person.id, provider, 'ada')
    const { location } = await signInBy(provider.id, 'ada')
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(decodeJwt(String(body.id_token))).toMatchObject({
      sub: person.id,
      acr: 'urn:vestibule:federated',
      amr: ['fed'],
      auth_time: expect.any(Number),
    })
    const sessions = await dbFor(tenant).session.findMany({
      where: { tenantId: tenant, userId: person.id, kind: 'browser' },
    })
    expect(sessions).toMatchObject([{ proofs: [{ method: 'provider', amr: ['fed'] }] }])
    expect(await events({ type: 'session.started' })).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ userId: person.id, detail: { kind: 'browser', method: 'provider' } }),
      ]),
    )
  })

  test('leads to the offer of a passkey in a browser that can create one', async ({
    person,
    browser,
    provider,
    start,
    link,
    signInThere,
    comeBack,
  }) => {
    await link(person.id, provider, 'offered')
    const { response } = await browser.submit(await start(), {
      step: 'provider',
      idp: provider.id,
      platform: '1',
    })
    const page = await comeBack(await signInThere(readTransfer(response), 'offered'))
    expect(page.html).toContain('<h1>Sign in faster next time</h1>')
    const { location } = await browser.submit(page, { step: 'later' })
    expect(answerIn(location).code).toMatch(/./)
  })

  test('begins with state, nonce and a PKCE challenge that differ in each attempt', async ({
    tenant,
    provider,
    start,
    choose,
  }) => {
    const requests = [await choose(await start(), provider.id), await choose(await start(), provider.id)]
    const [first, second] = requests.map(({ searchParams }) => Object.fromEntries(searchParams))
    expect(first).toMatchObject({
      response_type: 'code',
      client_id: 'vestibule',
      redirect_uri: provider.callback,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}\.[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(first?.[name]).not.toBe(second?.[name])
    expect(provider.callback).toMatch(new RegExp(`/${tenant}/oidc/callback/${provider.id}$`))
  })

  test('continues the session of the same user under a new token', async ({
    tenant,
    person,
    browser,
    provider,
    oidc,
    link,
    signInBy,
  }) => {
    await link(person.id, provider, 'emmy')
    await oidc.signIn(browser, person.email)
    const before = browser.sessionToken
    const { location } = await signInBy(provider.id, 'emmy', browser, { prompt: 'login' })
    expect(answerIn(location).code).toMatch(/./)
    expect(browser.sessionToken).not.toBe(before)
    const sessions = await dbFor(tenant).session.findMany({
      where: { tenantId: tenant, userId: person.id, kind: 'browser', endedAt: null },
    })
    expect(sessions).toMatchObject([{ proofs: [{ method: 'passcode' }, { method: 'provider' }] }])
  })

  test('asks the provider for a new sign-in where the client asks for one', async ({
    provider,
    browser,
    start,
    choose,
  }) => {
    const request = await choose(await start(browser, { prompt: 'login' }), provider.id)
    expect(request.searchParams.get('prompt')).toBe('login')
    expect(request.searchParams.get('max_age')).toBe('0')
  })

  test('works with OAuth 2.0 without an ID token or an e-mail address', async ({
    person,
    gitLike,
    addLink,
    signInBy,
  }) => {
    await addLink(person.id, gitLike.id, '583231')
    const { location } = await signInBy(gitLike.id, '583231')
    expect(answerIn(location).code).toMatch(/./)
  })

  test('takes an answer that the provider posts', async ({
    person,
    provider,
    browser,
    newBrowser,
    link,
    start,
    choose,
    signInThere,
    comeBack,
  }) => {
    await link(person.id, provider, 'grace')
    const callback = await signInThere(await choose(await start(), provider.id), 'grace')
    // A cross-site POST has no cookies of this server.
    const posted = await newBrowser().post(callback.pathname, Object.fromEntries(callback.searchParams))
    expect(posted.status).toBe(303)
    const next = new URL(posted.headers.get('location') ?? '')
    expect(next.href).not.toContain(callback.searchParams.get('code'))
    expect(answerIn((await comeBack(next, browser)).location).code).toMatch(/./)
  })

  test('lets a locked user not in, in the words for everyone', async ({
    ctx,
    person,
    provider,
    events,
    link,
    signInBy,
  }) => {
    await link(person.id, provider, 'lise')
    await lockUser(ctx, person.id)
    const { html } = await signInBy(provider.id, 'lise')
    expect(html).toContain('did not work. Try again, or choose another way.')
    expect((await events({ type: 'signin.failed' })).at(-1)).toMatchObject({
      userId: person.id,
      detail: { method: 'provider', reason: 'locked' },
    })
  })

  test('is offered for complete providers only, each with its own mark', async ({
    rest,
    provider,
    newBrowser,
    start,
  }) => {
    const google = { type: 'google', name: 'Google', clientId: 'x' }
    await rest('POST', '/idps', { ...google, id: 'google', clientSecret: 'y' })
    await rest('POST', '/idps', { id: 'incomplete', type: 'google', name: 'Incomplete' })
    await rest('POST', '/idps', { ...google, id: 'no-secret', name: 'No secret' })
    const { html, response } = await start(newBrowser())
    expect(html).toContain(`value="${provider.id}"`)
    expect(html).toMatch(/<button type="submit" name="idp" value="google"[^>]*><svg/)
    expect(html).not.toContain('Incomplete')
    expect(html).not.toContain('No secret')
    expect(Buffer.byteLength(html)).toBeLessThan(15_000)
    expect(response.headers.get('content-security-policy')).not.toContain('unsafe')
    await rest('DELETE', '/idps/google')
    expect((await start(newBrowser())).html).not.toContain('value="google"')
  })
})
