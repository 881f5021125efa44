import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { optionsAt, startRequest, test } from '../../support/openid-client.ts'
import { signInAt } from '../../support/protocol.ts'

describe('openid-client', () => {
  test('requests claims and verifies the signatures of the ID token and of userinfo', async ({
    app,
    issuer,
    newClient,
    newPerson,
    newBrowser,
  }) => {
    const user = await newPerson({ name: 'Ada Lovelace', birthdate: '1815-12-10' })
    const client = await newClient({ idTokenSigningAlg: 'RS256', userInfoSigningAlg: 'ES384' })
    const options = optionsAt(app)
    const config = await openid.discovery(
      new URL(issuer),
      client.id,
      { id_token_signed_response_alg: 'RS256', userinfo_signed_response_alg: 'ES384' },
      openid.ClientSecretBasic(client.secret),
      { ...options, execute: [...(options.execute ?? []), openid.enableNonRepudiationChecks] },
    )
    expect(config.serverMetadata()).toMatchObject({ claims_parameter_supported: true })
    const { path, checks } = await startRequest(config, {
      scope: 'openid email',
      claims: JSON.stringify({ id_token: { birthdate: null }, userinfo: { name: { essential: true } } }),
    })
    const { location } = await signInAt(newBrowser(), path, user.email)
    const tokens = await openid.authorizationCodeGrant(config, new URL(location ?? ''), checks)
    expect(tokens.claims()).toMatchObject({ sub: user.id, birthdate: '1815-12-10' })
    expect(await openid.fetchUserInfo(config, tokens.access_token, user.id)).toEqual({
      iss: config.serverMetadata().issuer,
      aud: client.id,
      sub: user.id,
      email: user.email,
      email_verified: true,
      name: 'Ada Lovelace',
    })
  })
})
