import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { newTenant } from '../../support/actors.ts'
import { INVALID_CLIENT, JWT_BEARER, MACHINE, type Own, test } from '../../support/client-assertions.ts'
import { startRequest } from '../../support/openid-client.ts'
import { type ClientKey, makeAssertion, makeKey, nowSeconds } from '../../support/proofs.ts'
import { signInAt, tokenRequest } from '../../support/protocol.ts'
import { countWarmStatements } from '../../support/statements.ts'

describe.each(['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'])(
  'a relying party with a key of %s (OIDC Core, section 9)',
  (alg) => {
    test('signs a user in, refreshes and revokes', async ({ person, browser, configure }) => {
      const config = await configure(alg, {})
      const { checks, path } = await startRequest(config, { scope: 'openid offline_access' })
      const { location } = await signInAt(browser, path, person.email)
      const tokens = await openid.authorizationCodeGrant(config, new URL(location ?? ''), checks)
      expect(tokens.claims()?.sub).toBe(person.id)
      const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')
      await openid.tokenRevocation(config, refreshed.refresh_token ?? '')
      await expect(openid.refreshTokenGrant(config, refreshed.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      })
    })

    test('obtains a token for a machine client', async ({ configure }) => {
      const tokens = await openid.clientCredentialsGrant(await configure(alg, MACHINE))
      expect(tokens.scope).toBe('users:read')
    })
  },
)

describe('a client assertion', () => {
  test.for<[name: string, make: (own: Own) => Promise<string>]>([
    ['for the issuer', ({ assert }) => assert()],
    ['for the token endpoint', ({ assert, issuer }) => assert({ aud: `${issuer}/oidc/token` })],
    ['for both of them', ({ assert, issuer }) => assert({ aud: [issuer, `${issuer}/oidc/token`] })],
    ['by a clock 20 s ahead', ({ assert }) => assert({ iat: nowSeconds() + 20, nbf: nowSeconds() + 20 })],
    ['by a clock that is 20 s late', ({ assert }) => assert({ exp: nowSeconds() - 20 })],
    ['without iat', ({ assert }) => assert({ iat: undefined })],
    ['by another key of the client', ({ assert, keys }) => assert({}, { kid: 'rsa' }, keys.rsa)],
    ['without a kid', ({ assert }) => assert({}, { kid: undefined })],
    [
      'with the type client-authentication+jwt',
      ({ assert }) => assert({}, { typ: 'client-authentication+jwt' }),
    ],
    ['with the type oauth-client-auth+jwt', ({ assert }) => assert({}, { typ: 'oauth-client-auth+jwt' })],
    ['with the type of any JWT', ({ assert }) => assert({}, { typ: 'JWT' })],
  ])(
    'is accepted %s (RFC 7523, section 3)',
    async ([_name, make], { keys, machine, assert, present, issuer }) => {
      expect(await present(await make({ assert, keys, machine, issuer }))).toMatchObject({ status: 200 })
      expect(
        await present(await make({ assert, keys, machine, issuer }), { client_id: machine.id }),
      ).toMatchObject({ status: 200 })
    },
  )

  test('is accepted without a kid by each of several keys of one type', async ({
    newClient,
    present,
    readDiagnostics,
    issuer,
    keys,
  }) => {
    const pair = [await makeKey(), await makeKey()]
    const client = await newClient({ ...MACHINE, jwks: { keys: pair.map(({ jwk }) => jwk) } })
    const by = (key: ClientKey) => makeAssertion(key, { clientId: client.id, audience: issuer })
    for (const key of pair) expect(await present(await by(key))).toMatchObject({ status: 200 })
    const rejected = await present(await by(keys.stranger))
    expect(rejected).toMatchObject({ status: 401, body: INVALID_CLIENT })
    expect(await readDiagnostics(rejected)).toMatchObject({
      reason: 'the signature does not verify with this key',
    })
  })

  test('does not replace the secret of the same client', async ({ oidc, machine }) => {
    expect(await oidc.token({ grant_type: 'client_credentials' }, machine)).toMatchObject({
      status: 200,
    })
  })

  test('is accepted with the called endpoint as audience', async ({
    app,
    tenant,
    assert,
    present,
    issuer,
  }) => {
    const toRevoke = await assert({ aud: `${issuer}/oidc/revoke` })
    expect(await present(toRevoke)).toMatchObject({ status: 401 })
    const revoke = (assertion: string) =>
      app.fetch(`/${tenant}/oidc/revoke`, {
        method: 'POST',
        body: new URLSearchParams({
          token: 'x',
          client_assertion_type: JWT_BEARER,
          client_assertion: assertion,
        }),
      })
    expect((await revoke(toRevoke)).status).toBe(200)
    expect((await revoke(toRevoke)).status).toBe(401)
  })

  test('is required for a refresh token of a client with keys', async ({
    newClient,
    send,
    present,
    issuer,
  }) => {
    const key = await makeKey()
    const client = await newClient({ jwks: { keys: [key.jwk] } })
    const form = { grant_type: 'refresh_token', refresh_token: 'x' }
    expect(await send({ ...form, client_id: client.id })).toMatchObject({ status: 401, body: INVALID_CLIENT })
    const assertion = await makeAssertion(key, { clientId: client.id, audience: issuer })
    expect(await present(assertion, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('is answered 429 after too many failures', async ({ app, keys, issuer }) => {
    const many = await newTenant()
    const form = async () => ({
      grant_type: 'client_credentials',
      client_assertion_type: JWT_BEARER,
      client_assertion: await makeAssertion(keys.stranger, { clientId: 'client_x', audience: issuer }),
    })
    const forms = await Promise.all(Array.from({ length: 101 }, form))
    const answers = await Promise.all(forms.map((each) => tokenRequest(app, many, null, each)))
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
  })

  test('sends one statement', async ({ assert, present }) => {
    const [first, second] = [await assert(), await assert()]
    expect(
      await countWarmStatements(
        () => present(first),
        () => present(second),
      ),
    ).toBe(1)
  })
})

describe('a client assertion that was used (RFC 7523, section 3)', () => {
  test('is rejected, as is another one with its jti', async ({ assert, present, readDiagnostics }) => {
    const assertion = await assert({ jti: 'one' })
    expect(await present(assertion)).toMatchObject({ status: 200 })
    const again = await present(assertion)
    expect(again).toMatchObject({ status: 401, body: INVALID_CLIENT })
    expect(await readDiagnostics(again)).toMatchObject({ reason: 'its jti was used before', given: 'one' })
    expect(await present(await assert({ jti: 'one', exp: nowSeconds() + 600 }))).toMatchObject({
      status: 401,
    })
  })

  test('is accepted once when it is sent 50 times concurrently', async ({ assert, present }) => {
    const assertion = await assert()
    const answers = await Promise.all(Array.from({ length: 50 }, () => present(assertion)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49)
  })

  test('does not use up its jti when its signature is wrong', async ({ keys, assert, present }) => {
    expect(await present(await assert({ jti: 'theirs' }, {}, keys.stranger))).toMatchObject({ status: 401 })
    expect(await present(await assert({ jti: 'theirs' }))).toMatchObject({ status: 200 })
  })

  test('does not use up the jti of another client', async ({ newClient, assert, present, issuer }) => {
    const key = await makeKey()
    const client = await newClient({ ...MACHINE, jwks: { keys: [key.jwk] } })
    expect(await present(await assert({ jti: 'shared' }))).toMatchObject({ status: 200 })
    const other = await makeAssertion(
      key,
      { clientId: client.id, audience: issuer },
      { claims: { jti: 'shared' } },
    )
    expect(await present(other)).toMatchObject({ status: 200 })
  })
})
