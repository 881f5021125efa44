import { expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import type { IdpUserToken } from '../../src/generated/prisma/client.ts'
import { updateIdentityProvider } from '../../src/idps/idps.ts'
import { dbFor } from './database.ts'
import type { PageBrowser } from './page-browser.ts'
import { test as base, type SignInProvider } from './provider-sign-in.ts'

export const KEEPER_SCOPES = 'openid email profile offline_access'

/** `test` with identity providers that keep tokens. */
export const test = base
  .extend('newKeeper', { scope: 'file' }, ({ tenant, newProvider }) => async (): Promise<SignInProvider> => {
    const provider = await newProvider({ keepTokens: true, scopes: KEEPER_SCOPES })
    // OIDC Core, section 11: offline_access requires prompt=consent.
    const authorizationEndpoint = `${provider.upstream.issuer}/auth?prompt=consent`
    await updateIdentityProvider(createPlatformCtx(tenant), provider.id, { authorizationEndpoint })
    return provider
  })
  .extend('keeperServer', { scope: 'file' }, ({ newKeeper }) => newKeeper())
  .extend('keeper', ({ keeperServer }) => {
    keeperServer.upstream.before.clear()
    return keeperServer
  })
  /** Signs `person` in at a provider; returns what the provider issued. */
  .extend(
    'enter',
    ({ person, subject, browser, link, signInBy }) =>
      async (provider: SignInProvider, by: PageBrowser = browser) => {
        await link(person.id, provider, subject)
        const count = provider.upstream.issued.length
        const { location } = await signInBy(provider.id, subject, by)
        expect(location).toContain('code=')
        const [tokens, ...others] = provider.upstream.issued.slice(count)
        if (!tokens || others.length > 0) throw new Error('expected one response with tokens')
        return tokens
      },
  )
  /** The kept tokens of `person`, sealed. */
  .extend(
    'findTokens',
    ({ tenant, person }) =>
      ({ id: idpId }: SignInProvider): Promise<IdpUserToken[]> =>
        dbFor(tenant).idpUserToken.findMany({
          where: { tenantId: tenant, idpId, link: { tenantId: tenant, userId: person.id } },
        }),
  )
