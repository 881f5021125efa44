import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { type ClaimMapping, type ClaimSource, isReservedClaim } from '../../../src/model/claim-mappings.ts'
import { listMappedClaims } from '../../../src/users/mapped-claims.ts'
import { dbFor } from '../../support/database.ts'
import { decide, pollWith, startDevice } from '../../support/device-flow.ts'
import { test as base, startRequest } from '../../support/openid-client.ts'
import { signInAt } from '../../support/protocol.ts'
import { countWarmStatements, leastStatements } from '../../support/statements.ts'

const EVERYWHERE = ['id_token', 'access_token', 'userinfo']
const MAPPINGS = [
  {
    claim: 'https://shop.example/plan',
    source: 'appMetadata',
    path: '/billing/plan',
    scope: 'billing',
    targets: EVERYWHERE,
  },
  { claim: 'theme', source: 'userMetadata', path: '/a~1b', targets: ['userinfo'] },
  { claim: 'legacy_id', source: 'user', path: 'externalId', targets: ['access_token'] },
  { claim: 'preferred_username', source: 'user', path: 'email', targets: ['id_token'] },
  { claim: 'role', source: 'constant', value: 'authenticated', targets: ['access_token'] },
  { claim: 'nothing', source: 'userMetadata', path: '/constructor/name', targets: EVERYWHERE },
]
const SCOPE = 'openid billing offline_access'

const test = base
  .extend('shop', { scope: 'file' }, ({ newClient }) => newClient({ claimMappings: MAPPINGS }))
  .extend('ada', { scope: 'file' }, async ({ tenant, newVisitor }) => {
    const ada = await newVisitor({
      userMetadata: { 'a/b': 'dark' },
      appMetadata: { billing: { plan: ['gold', 'annual'] } },
    })
    const where = { tenantId_id: { tenantId: tenant, id: ada.user.id } }
    await dbFor(tenant).user.update({ where, data: { externalId: 'legacy-1' } })
    return ada
  })

describe('mapped claims', () => {
  test('come out where the client wants them, of fields, metadata and constants', async ({
    ada,
    shop,
    oidc,
  }) => {
    const tokens = await ada.newTokens({ scope: SCOPE }, shop)
    expect(decodeJwt(tokens.id_token)).toMatchObject({
      sub: ada.user.id,
      'https://shop.example/plan': ['gold', 'annual'],
      preferred_username: ada.user.email,
    })
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      'https://shop.example/plan': ['gold', 'annual'],
      legacy_id: 'legacy-1',
      role: 'authenticated',
      scope: SCOPE,
    })
    const userinfo = await (await oidc.userinfo(tokens.access_token)).json()
    expect(userinfo).toEqual({
      sub: ada.user.id,
      'https://shop.example/plan': ['gold', 'annual'],
      theme: 'dark',
    })
    for (const token of [tokens.id_token, tokens.access_token])
      expect(decodeJwt(token)).not.toHaveProperty('nothing')
  })

  test('come out with the scope of their condition only, which a refresh may leave out', async ({
    ada,
    shop,
    oidc,
    newClient,
  }) => {
    const { refresh_token: token } = await ada.newTokens({ scope: SCOPE }, shop)
    const { body } = await oidc.refresh(token, { scope: 'openid' }, shop)
    expect(decodeJwt(body.access_token as string)).not.toHaveProperty('https://shop.example/plan')
    expect(decodeJwt(body.access_token as string)).toHaveProperty('role')
    // The scope exists for the clients alone whose mappings name it.
    expect((await ada.newTokens({ scope: SCOPE }, await newClient())).scope).toBe('openid offline_access')
  })

  test('cost no statement', async ({ ada, shop, oidc }) => {
    const { refresh_token: token, access_token } = await ada.newTokens({ scope: SCOPE }, shop)
    expect(await leastStatements(() => oidc.refresh(token, {}, shop))).toBe(1)
    expect(await leastStatements(() => oidc.userinfo(access_token))).toBe(1)
    const code = await ada.newCode({ scope: SCOPE }, shop)
    const earlier = await ada.newCode({ scope: SCOPE }, shop)
    expect(
      await countWarmStatements(
        () => oidc.exchange(earlier, {}, shop),
        () => oidc.exchange(code, {}, shop),
      ),
    ).toBe(1)
  })

  test('are read by openid-client', async ({ shop, discover, newBrowser, newPerson }) => {
    const user = await newPerson({ appMetadata: { billing: { plan: 'silver' } } })
    const config = await discover(shop)
    const { path, checks } = await startRequest(config, { scope: 'openid billing' })
    const { location } = await signInAt(newBrowser(), path, user.email)
    const tokens = await openid.authorizationCodeGrant(config, new URL(location ?? ''), checks)
    expect(tokens.claims()).toMatchObject({
      'https://shop.example/plan': 'silver',
      preferred_username: user.email,
    })
    expect(await openid.fetchUserInfo(config, tokens.access_token, user.id)).toMatchObject({
      'https://shop.example/plan': 'silver',
    })
  })

  test('come out of a device code, and constants of a token of the client itself', async ({
    app,
    tenant,
    ada,
    oidc,
    newClient,
  }) => {
    const device = await newClient({ appType: 'native', callbacks: [], claimMappings: MAPPINGS })
    const start = await startDevice(app, tenant, device, { scope: SCOPE })
    await decide(ada.browser, tenant, start.body.user_code as string, 'allow')
    const polled = await pollWith(app, tenant, device, start.body.device_code as string)
    expect(decodeJwt(polled.body.access_token as string)).toMatchObject({ legacy_id: 'legacy-1' })
    const machine = await newClient({ appType: 'machine', callbacks: [], claimMappings: MAPPINGS })
    const { body } = await oidc.token({ grant_type: 'client_credentials' }, machine)
    expect(decodeJwt(body.access_token as string)).toMatchObject({ role: 'authenticated' })
    expect(decodeJwt(body.access_token as string)).not.toHaveProperty('legacy_id')
  })

  test('leave out what would make the token too large, which the log names', async ({
    newVisitor,
    newClient,
    oidc,
    events,
  }) => {
    const person = await newVisitor({ userMetadata: { bio: 'x'.repeat(6000), motto: 'y' } })
    const client = await newClient({
      claimMappings: ['bio', 'motto'].map((name) => ({
        claim: name,
        source: 'userMetadata',
        path: `/${name}`,
        targets: EVERYWHERE,
      })),
    })
    const tokens = await person.newTokens({}, client)
    for (const token of [tokens.id_token, tokens.access_token]) {
      expect(token.length).toBeLessThan(2000)
      expect(decodeJwt(token)).toMatchObject({ motto: 'y' })
    }
    const userinfo = await (await oidc.userinfo(tokens.access_token)).json()
    expect(userinfo).toMatchObject({ motto: 'y', bio: expect.any(String) })
    await person.newTokens({}, client)
    const omitted = await events({ type: 'token.claims_omitted', userId: person.user.id })
    expect(
      omitted.map(({ detail }) => detail).sort((a, b) => String(a?.target).localeCompare(String(b?.target))),
    ).toEqual([
      { target: 'access_token', claims: 'bio' },
      { target: 'id_token', claims: 'bio' },
    ])
  })
})

describe('a client that asks for consent', () => {
  test('names the mapped claims, and gets no claim that was mapped since', async ({
    newVisitor,
    newClient,
    oidc,
    rest,
  }) => {
    const person = await newVisitor({ userMetadata: { team: 'red', size: 'L' } })
    const team = { claim: 'team', source: 'userMetadata', path: '/team', targets: ['access_token'] }
    const client = await newClient({ requireConsent: true, claimMappings: [team] })
    expect(await person.authorize({ scope: 'openid offline_access' }, client)).toMatchObject({
      error: 'consent_required',
    })
    const page = await person.browser.open(oidc.authorizePath({ scope: 'openid offline_access' }, client))
    const html = await page.response.text()
    expect(html).toContain('See “team”')
    await person.browser.submit({ ...page, html }, { step: 'allow' })
    const tokens = await person.newTokens({ scope: 'openid offline_access' }, client)
    expect(decodeJwt(tokens.access_token)).toMatchObject({ team: 'red' })
    await rest('PATCH', `/clients/${client.id}`, {
      claimMappings: [team, { ...team, claim: 'size', path: '/size' }],
    })
    const { body } = await oidc.refresh(tokens.refresh_token, {}, client)
    expect(decodeJwt(body.access_token as string)).toMatchObject({ team: 'red' })
    expect(decodeJwt(body.access_token as string)).not.toHaveProperty('size')
    expect(await person.authorize({ scope: 'openid' }, client)).toMatchObject({ error: 'consent_required' })
    // The name that the user agreed to, with other data.
    await rest('PATCH', `/clients/${client.id}`, { claimMappings: [{ ...team, path: '/size' }] })
    const repeated = await oidc.refresh(body.refresh_token as string, {}, client)
    expect(decodeJwt(repeated.body.access_token as string)).not.toHaveProperty('team')
    expect(await person.authorize({ scope: 'openid' }, client)).toMatchObject({ error: 'consent_required' })
  })

  test('names a claim of a scope that has another source', () => {
    const website = (source: ClaimSource, path: string): ClaimMapping => ({
      ...{ claim: 'website', source, path, value: null, scope: 'profile', targets: ['userinfo'] },
    })
    const list = (one: ClaimMapping) => listMappedClaims([one], ['openid', 'profile'])
    expect(list(website('user', 'website'))).toEqual([])
    expect(list(website('user', 'email'))).toEqual(['website user email'])
    expect(list(website('appMetadata', '/ssn'))).toEqual(['website appMetadata /ssn'])
  })
})

describe('the claims that a mapping cannot set', () => {
  test('include each that the service sets in tokens', async ({ ada }) => {
    const tokens = await ada.newTokens({ scope: 'openid', nonce: 'n' })
    for (const token of [tokens.id_token, tokens.access_token])
      for (const claim of Object.keys(decodeJwt(token)))
        expect([claim, isReservedClaim(claim)]).toEqual([claim, true])
  })
})
