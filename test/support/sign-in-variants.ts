import * as oidc from 'openid-client'
import { postedAnswer } from './conformance-plan.ts'
import { newRequest } from './openid-client.ts'
import { PageBrowser } from './page-browser.ts'
import { type Pair, type PairTenant, signInThrough } from './pair.ts'
import { makeKey } from './proofs.ts'
import { REDIRECT_URI } from './protocol.ts'

/** How a web client sends its authorization request, receives the response and authenticates. */
export type SignInVariant = { isPushed?: boolean; isPosted?: boolean; hasKey?: boolean; isBound?: boolean }

export const SCOPE = 'openid profile email offline_access'

export const discover = (
  { issuer }: Pick<PairTenant, 'issuer'>,
  clientId: string,
  authentication: oidc.ClientAuth,
): Promise<oidc.Configuration> =>
  oidc.discovery(new URL(issuer), clientId, undefined, authentication, {
    execute: [oidc.allowInsecureRequests],
  })

/** Signs a new user in at a new web client with openid-client, up to the redemption of the code. */
export async function authorizeBy(
  { isPushed, isPosted, hasKey, isBound }: SignInVariant,
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
  const { checks, parameters } = await newRequest({
    scope: SCOPE,
    ...(isPosted && { response_mode: 'form_post' }),
  })
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
