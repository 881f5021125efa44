import * as openid from 'openid-client'
import { issuerOf } from '../../src/core/issuer.ts'
import { type Origin, REDIRECT_URI } from './protocol.ts'
import { test as base } from './visitor.ts'

/** A fetch that sends requests for the issuer to `origin`: BASE_URL is fixed before the port is known. */
export const fetchAt =
  ({ origin }: Origin) =>
  (url: string, init: object = {}): Promise<Response> => {
    const { pathname, search } = new URL(url)
    return fetch(`${origin}${pathname}${search}`, init)
  }

/** Options of openid-client for a program that listens at `origin`. */
export const optionsAt = (app: Origin): openid.DiscoveryRequestOptions => ({
  execute: [openid.allowInsecureRequests],
  [openid.customFetch]: fetchAt(app) as openid.CustomFetch,
})

/** The parameters of an authorization request with PKCE, state and nonce, and the checks of its response. */
export async function newRequest(more: Record<string, string> = {}) {
  const checks = {
    pkceCodeVerifier: openid.randomPKCECodeVerifier(),
    expectedState: openid.randomState(),
    expectedNonce: openid.randomNonce(),
    idTokenExpected: true,
  }
  const parameters: Record<string, string> = {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await openid.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    ...more,
  }
  return { checks, parameters }
}

/** An authorization request of openid-client: where to send the browser, and the checks of the response. */
export async function startRequest(config: openid.Configuration, more: Record<string, string> = {}) {
  const { checks, parameters } = await newRequest(more)
  const { pathname, search } = openid.buildAuthorizationUrl(config, parameters)
  return { checks, path: pathname + search }
}

/** `test` with relying parties built on openid-client, whose requests reach `app`. */
export const test = base
  .extend('issuer', { scope: 'file' }, ({ tenant }) => issuerOf(tenant))
  /**
   * Reads the tenant's metadata for a client; by default it authenticates by client_secret_post, or not
   * without a secret.
   */
  .extend(
    'discover',
    { scope: 'file' },
    ({ app, issuer }) =>
      (
        { id, secret }: { id: string; secret: string },
        authentication = secret ? openid.ClientSecretPost(secret) : openid.None(),
      ): Promise<openid.Configuration> =>
        openid.discovery(new URL(issuer), id, undefined, authentication, optionsAt(app)),
  )
