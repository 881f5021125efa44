import { UnsecuredJWT } from 'jose'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { getIdentityProvider, updateIdentityProvider } from '../../src/idps/idps.ts'
import { PRIVATE_KEY } from '../support/idps.ts'
import { test as base, toClaims, toIssue } from '../support/provider-stub.ts'

const signSecret = (seconds: number) =>
  new UnsecuredJWT({ iss: 'TEAM' }).setExpirationTime(Math.floor(Date.now() / 1000) + seconds).encode()

const test = base
  /** A provider like Apple, whose token endpoint issues an ID token. */
  .extend('newApple', ({ stub, configure, upstream }) => async (clientSecret: string) => {
    stub.answers['/auth/token'] = {
      access_token: 'at',
      id_token: await upstream.sign(toClaims({ iss: 'https://appleid.apple.com', sub: crypto.randomUUID() })),
    }
    const endpoints = { tokenEndpoint: `${stub.origin}/auth/token`, jwksUri: upstream.endpoints.jwksUri }
    return configure({ type: 'apple', clientSecret, ...endpoints })
  })
  .extend(
    'listMissing',
    ({ tenant }) =>
      async (idpId: string) =>
        (await getIdentityProvider(createPlatformCtx(tenant), idpId)).missing,
  )

describe('the client secret of a provider of type apple', () => {
  test('is sent as it is when it is a ready one, until it expires', async ({
    stub,
    newApple,
    prove,
    listMissing,
  }) => {
    const secret = signSecret(3600)
    const idpId = await newApple(secret)
    expect(await listMissing(idpId)).toEqual([])
    expect(await prove(idpId, { code: 'c' })).toMatchObject({ issuer: 'https://appleid.apple.com' })
    expect(stub.asked[0]?.form).toMatchObject({ client_id: 'our app', client_secret: secret })
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 })
    onTestFinished(() => void vi.useRealTimers())
    expect(await listMissing(idpId)).toEqual(['clientSecret'])
    expect(await prove(idpId, { code: 'c' })).toEqual(
      toIssue('idpId', 'is a provider that still needs clientSecret'),
    )
    expect(stub.asked).toHaveLength(1)
  })

  test('is stored when it is anything else, and is missing until it is replaced', async ({
    tenant,
    stub,
    newApple,
    prove,
    listMissing,
  }) => {
    const ctx = createPlatformCtx(tenant)
    const idpId = await newApple('copied from elsewhere')
    expect(await listMissing(idpId)).toEqual(['clientSecret'])
    expect(await prove(idpId, { code: 'c' })).toMatchObject({ code: 'BAD_USER_INPUT' })
    await updateIdentityProvider(ctx, idpId, { clientSecret: PRIVATE_KEY })
    expect(await listMissing(idpId)).toEqual(['platformTeamId', 'platformKid'])
    await updateIdentityProvider(ctx, idpId, { platformTeamId: 'TEAM', platformKid: 'KID' })
    expect(await listMissing(idpId)).toEqual([])
    expect(await prove(idpId, { code: 'c' })).toMatchObject({ issuer: 'https://appleid.apple.com' })
    await updateIdentityProvider(ctx, idpId, { clientSecret: 'wrong again' })
    await updateIdentityProvider(ctx, idpId, { name: 'Renamed' })
    expect(await listMissing(idpId)).toEqual(['clientSecret'])
    await updateIdentityProvider(ctx, idpId, { clientSecret: null })
    expect(await listMissing(idpId)).toEqual([])
    expect(stub.asked).toHaveLength(1)
  })
})
