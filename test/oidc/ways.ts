import * as oidc from 'openid-client'
import { PageBrowser } from '../support/page-browser.ts'
import { type Pair, type PairTenant, signInThrough } from '../support/pair.ts'
import { makeKey } from '../support/proofs.ts'
import { postedAnswer } from './plan.ts'
import { REDIRECT_URI } from './provider.ts'

/** How a web client goes about its sign-ins. */
export type Way = { isPushed?: boolean; isPosted?: boolean; hasKey?: boolean; isBound?: boolean }

export const WAYS: readonly [name: string, way: Way][] = [
  ['a secret and PKCE', {}],
  ['a pushed request (RFC 9126)', { isPushed: true }],
  ['an answer that is posted', { isPosted: true }],
  ['private_key_jwt', { hasKey: true }],
  ['DPoP (RFC 9449)', { isBound: true }],
  ['all of these', { isPushed: true, isPosted: true, hasKey: true, isBound: true }],
]

export const SCOPE = 'openid profile email offline_access'

export const discover = (
  { issuer }: Pick<PairTenant, 'issuer'>,
  clientId: string,
  authentication: oidc.ClientAuth,
): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(issuer), clientId, undefined, authentication, {
    execute: [oidc.allowInsecureRequests],
  })

/** A person and a web client of their own, by openid-client, up to where its code can be redeemed. */
export async function arriveBy(
  { isPushed, isPosted, hasKey, isBound }: Way,
  pair: Pair,
  tenant: PairTenant,
  more: object = {},
) {
  const person = await tenant.makePerson()
  const key = await makeKey()
  const client = await tenant.makeClient({
    requirePushedRequests: isPushed === true,
    ...(hasKey && { jwks: { keys: [key.jwk] } }),
    ...more,
  })
  const authentication = hasKey ? oidc.PrivateKeyJwt(key.privateKey) : oidc.ClientSecretBasic(client.secret)
  const config = await discover(tenant, client.id, authentication)
  const by = isBound ? { DPoP: oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair()) } : undefined
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
    idTokenExpected: true,
  }
  const parameters = {
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...(isPosted && { response_mode: 'form_post' }),
  }
  const { pathname, search } = isPushed
    ? await oidc.buildAuthorizationUrlWithPAR(config, parameters, by)
    : oidc.buildAuthorizationUrl(config, parameters)
  const browser = new PageBrowser(pair.origin)
  const arrived = await signInThrough(pair, pathname + search, person.email, browser)
  const form = isPosted ? postedAnswer(await arrived.response.text())?.answer : undefined
  const answer = () =>
    form
      ? new Request(REDIRECT_URI, { method: 'POST', body: new URLSearchParams(form) })
      : new URL(arrived.location ?? '')
  const redeem = () => oidc.authorizationCodeGrant(config, answer(), checks, undefined, by)
  return { person, client, config, by, browser, redeem }
}
