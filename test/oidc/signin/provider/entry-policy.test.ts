import { text } from 'node:stream/consumers'
import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { updateIdentityProvider } from '../../../../src/idps/idps.ts'
import { dbFor } from '../../../support/database.ts'
import { PRIVATE_KEY } from '../../../support/idps.ts'
import { test as base } from '../../../support/provider-sign-in.ts'

const NOT_CONNECTED = 'is not connected to an account here.'

const test = base
  /** The user who is linked to a subject. */
  .extend('findLinked', { scope: 'file' }, ({ tenant }) => async (idpId: string, externalId: string) => {
    const link = await dbFor(tenant).idpUser.findFirst({
      where: { tenantId: tenant, idpId, externalId },
      include: { user: true },
    })
    return link?.user ?? null
  })

describe('a person without a link', () => {
  test('may enter by a provider for anyone, as a user with the copied claims', async ({
    newProvider,
    signInBy,
    findLinked,
    events,
  }) => {
    const open = await newProvider({ entry: 'anyone', trustEmail: true })
    open.upstream.claims = { email: 'new@upstream.example', email_verified: true, name: 'New Person' }
    expect((await signInBy(open.id, 'new')).location).toContain('code=')
    const user = await findLinked(open.id, 'new')
    expect(user).toMatchObject({ name: 'New Person', email: 'new@upstream.example', emailVerified: true })
    expect((await events({ userId: String(user?.id) })).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['user.created', 'idpuser.linked', 'session.started']),
    )
  })

  test('gets no e-mail address from a provider whose addresses are not trusted', async ({
    newProvider,
    person,
    signInBy,
    findLinked,
  }) => {
    const open = await newProvider({ entry: 'anyone' })
    open.upstream.claims = { email: person.email, email_verified: true }
    expect((await signInBy(open.id, 'mallory')).location).toContain('code=')
    const user = await findLinked(open.id, 'mallory')
    expect(user).toMatchObject({ email: null, emailVerified: false })
    expect(user?.id).not.toBe(person.id)
  })

  test('does not get an address that a trusted provider has not verified', async ({
    newProvider,
    signInBy,
    findLinked,
  }) => {
    const open = await newProvider({ entry: 'anyone', trustEmail: true })
    open.upstream.claims = { email: 'victim@upstream.example', email_verified: false }
    expect((await signInBy(open.id, 'eve')).location).toContain('code=')
    expect(await findLinked(open.id, 'eve')).toMatchObject({ email: null })
  })

  test.for(['victim@upstream.example\u200b', '\uff56ictim@upstream.example', ' victim@upstream.example'])(
    'does not get the address that %j looks like',
    async (email, { newProvider, signInBy, findLinked }) => {
      const open = await newProvider({ entry: 'anyone', trustEmail: true })
      open.upstream.claims = { email, email_verified: true }
      expect((await signInBy(open.id, 'eve')).location).toContain('code=')
      expect(await findLinked(open.id, 'eve')).toMatchObject({ email: null, emailVerified: false })
    },
  )

  test('with the verified address of a user is not linked to that user', async ({
    newProvider,
    person,
    signInBy,
    findLinked,
  }) => {
    const open = await newProvider({ entry: 'anyone', trustEmail: true })
    open.upstream.claims = { email: person.email, email_verified: true }
    expect((await signInBy(open.id, 'same')).html).toContain(NOT_CONNECTED)
    expect(await findLinked(open.id, 'same')).toBeNull()
  })

  test('becomes one user when 8 sign-ins are concurrent', async ({
    tenant,
    newProvider,
    newBrowser,
    signInBy,
  }) => {
    const open = await newProvider({ entry: 'anyone' })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => signInBy(open.id, 'many', newBrowser())),
    )
    expect(answers.map(({ location }) => location?.includes('code='))).toEqual(answers.map(() => true))
    expect(await dbFor(tenant).idpUser.count({ where: { tenantId: tenant, idpId: open.id } })).toBe(1)
  })

  test('may enter by domain with a verified address of it only', async ({
    newProvider,
    newBrowser,
    signInBy,
    findLinked,
  }) => {
    const partner = await newProvider({ entry: 'domains', domains: ['Partner.example'], trustEmail: true })
    const attempts = [
      ['inside', { email: 'in@partner.EXAMPLE', email_verified: true }, true],
      ['outside', { email: 'out@other.example', email_verified: true }, false],
      ['below', { email: 'out@sub.partner.example', email_verified: true }, false],
      ['similar', { email: 'out@notpartner.example', email_verified: true }, false],
      ['two', { email: '"x@partner.example"@other.example', email_verified: true }, false],
      ['unverified', { email: 'un@partner.example', email_verified: false }, false],
      ['without', {}, false],
    ] as const
    for (const [subject, claims, enters] of attempts) {
      partner.upstream.claims = claims
      const { location, html } = await signInBy(partner.id, subject, newBrowser())
      expect([subject, location?.includes('code=') ?? false]).toEqual([subject, enters])
      if (!enters) expect(html).toContain(NOT_CONNECTED)
      expect((await findLinked(partner.id, subject)) !== null).toBe(enters)
    }
  })

  test('is answered alike whether or not a user has the address', async ({
    newProvider,
    newBrowser,
    person,
    signInBy,
  }) => {
    const linked = await newProvider()
    const pages = []
    for (const email of [person.email, 'nobody@upstream.example']) {
      linked.upstream.claims = { email, email_verified: true }
      const { html, response } = await signInBy(linked.id, email, newBrowser())
      pages.push([
        response.status,
        html
          .replaceAll(email, 'ADDRESS')
          .replaceAll(/((?:csrf|return_to)" value|action|data-challenge)="[^"]+"/g, ''),
      ])
    }
    expect(pages[0]).toEqual(pages[1])
  })
})

describe('the claims of a provider', () => {
  test('are copied at each sign-in where the policy is always, by the claims that it names', async ({
    ctx,
    newProvider,
    newBrowser,
    signInBy,
    findLinked,
  }) => {
    const open = await newProvider({
      entry: 'anyone',
      claims: { nickname: 'login', website: 'blog' },
      copyClaims: 'always',
    })
    open.upstream.claims = { login: 'octo', blog: 'no url', name: 'Ignored' }
    await signInBy(open.id, 'octo')
    expect(await findLinked(open.id, 'octo')).toMatchObject({ nickname: 'octo', website: null, name: null })
    open.upstream.claims = { login: 'octo2', blog: 'https://octo.example' }
    await signInBy(open.id, 'octo', newBrowser())
    expect(await findLinked(open.id, 'octo')).toMatchObject({
      nickname: 'octo2',
      website: 'https://octo.example',
    })
    await updateIdentityProvider(ctx, open.id, { copyClaims: 'once' })
    open.upstream.claims = { login: 'octo3' }
    await signInBy(open.id, 'octo', newBrowser())
    expect(await findLinked(open.id, 'octo')).toMatchObject({ nickname: 'octo2' })
  })
})

describe('the name that Apple sends once', () => {
  test('is copied to the new user, and identifies no one', async ({
    browser,
    newBrowser,
    ctx,
    newProvider,
    start,
    choose,
    comeBack,
    findLinked,
  }) => {
    const apple = await newProvider({
      type: 'apple',
      entry: 'anyone',
      clientSecret: PRIVATE_KEY,
      platformTeamId: 'TEAM',
      platformKid: 'KID',
    })
    const { upstream, callback } = apple
    await updateIdentityProvider(ctx, apple.id, { ...upstream.endpoints, clientSecret: PRIVATE_KEY })
    const request = await choose(await start(), apple.id)
    expect(request.searchParams.get('response_mode')).toBe('form_post')
    const now = Math.floor(Date.now() / 1000)
    const id_token = await upstream.sign({
      iss: upstream.issuer,
      aud: 'vestibule',
      sub: '001.apple',
      email_verified: 'true',
      nonce: request.searchParams.get('nonce'),
      iat: now,
      exp: now + 300,
    })
    const redeemed: URLSearchParams[] = []
    upstream.before.set('/me', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"sub":"001.apple"}')
      return true
    })
    upstream.before.set('/token', async (incoming, response) => {
      redeemed.push(new URLSearchParams(await text(incoming)))
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ access_token: 'x', token_type: 'bearer', id_token }))
      return true
    })
    const posted = await newBrowser().post(new URL(callback).pathname, {
      state: request.searchParams.get('state') ?? '',
      code: 'a-code',
      user: JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' }, email: 'victim@x.example' }),
    })
    const location = new URL(posted.headers.get('location') ?? '')
    expect(location.href).not.toContain('Lovelace')
    expect((await comeBack(location, browser)).location).toContain('code=')
    expect(await findLinked(apple.id, '001.apple')).toMatchObject({
      name: 'Ada Lovelace',
      givenName: 'Ada',
      familyName: 'Lovelace',
      email: null,
    })
    expect(decodeJwt(redeemed[0]?.get('client_secret') ?? '')).toMatchObject({
      iss: 'TEAM',
      sub: 'vestibule',
    })
  })
})

describe('a policy of a provider', () => {
  test.for([
    [{ entry: 'domains' }, ['domains', 'trustEmail']],
    [{ entry: 'domains', domains: ['no domain', 'a.example'], trustEmail: true }, ['domains.0']],
    [{ entry: 'nobody', copyClaims: 'x' }, ['entry', 'copyClaims']],
    [{ claims: { email: 'email' } }, ['claims.email']],
    [{ type: 'microsoft', issuer: null, trustEmail: true }, ['trustEmail']],
  ] as const)('%j is rejected by its fields', async ([fields, faulty], { rest }) => {
    const { status, body } = await rest('POST', '/idps', { id: 'x', type: 'oidc', name: 'X', ...fields })
    expect(status).toBe(400)
    expect(body.fields.map(({ field }: { field: string }) => field)).toEqual(faulty)
  })
})
