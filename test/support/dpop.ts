import { createNonce } from '../../src/access/dpop/dpop-nonces.ts'
import { logOf } from './events.ts'
import { type ClientKey, makeKey, makeProof } from './proofs.ts'
import {
  answerIn,
  authorizePath,
  REDIRECT_URI,
  type TokenAnswer,
  tokenRequest,
  VERIFIER,
} from './protocol.ts'
import { test as base } from './signed-in.ts'

export const DPOP_ALGS = 'algs="ES256 ES384 ES512 RS256 PS256 EdDSA Ed25519"'
export const MACHINE = { appType: 'machine', callbacks: [], scopes: ['users:read'] }
/** JSON that JavaScript converts neither to a string nor to a number. */
export const UNCONVERTIBLE = { toString: 1, valueOf: 1 }

export const toMinutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

/** Makes DPoP proofs for the endpoints of a tenant, with a current nonce. */
export async function createProver(tenant: string) {
  const issuer = `http://localhost:3000/${tenant}`
  const [key, otherKey] = [await makeKey(), await makeKey()]
  const userinfoUrl = `${issuer}/oidc/userinfo`
  return {
    tenant,
    issuer,
    userinfoUrl,
    key,
    otherKey,
    /** A valid proof for the token endpoint with changes. */
    prove: (claims: object = {}, header: object = {}, by = key) =>
      makeProof(
        by,
        { method: 'POST', url: `${issuer}/oidc/token`, nonce: createNonce() },
        { claims, header },
      ),
    /** A valid proof for a resource with a token, with changes. */
    proveAt: (url: string, token: string, claims: object = {}, by: ClientKey = key, method = 'GET') =>
      makeProof(by, { method, url, nonce: createNonce(), token }, { claims }),
  }
}
export type Prover = Awaited<ReturnType<typeof createProver>>

/** `test` with clients, keys and a signed-in user, for requests with DPoP proofs. */
export const test = base
  .extend('prover', { scope: 'file' }, ({ tenant }) => createProver(tenant))
  .extend('machine', { scope: 'file' }, ({ newClient }) => newClient(MACHINE))
  /** Sends a token request with a proof, client_credentials by default. */
  .extend(
    'ask',
    { scope: 'file' },
    ({ app, tenant, machine }) =>
      (proof: string, form: Record<string, string> = {}, by: { id: string; secret: string } = machine) =>
        tokenRequest(app, tenant, by, { grant_type: 'client_credentials', ...form }, { dpop: proof }),
  )
  .extend(
    'callUserinfo',
    { scope: 'file' },
    ({ app, tenant }) =>
      (headers: Record<string, string>, init: RequestInit = {}) =>
        fetch(`${app.origin}/${tenant}/oidc/userinfo`, { headers, ...init }),
  )
  .extend(
    'newCode',
    { scope: 'file' },
    ({ tenant, signedIn }) =>
      async (by: { id: string }, more: Record<string, string> = {}): Promise<string> => {
        const path = authorizePath(tenant, by, { prompt: 'none', scope: 'openid offline_access', ...more })
        return answerIn((await signedIn.fetch(path)).headers.get('location')).code as string
      },
  )
  /** Redeems a code, with a proof unless it is null. */
  .extend(
    'redeem',
    { scope: 'file' },
    ({ app, tenant }) =>
      (by: { id: string; secret: string }, code: string, proof: string | null): Promise<TokenAnswer> => {
        const form = {
          grant_type: 'authorization_code',
          code,
          redirect_uri: REDIRECT_URI,
          code_verifier: VERIFIER,
        }
        return tokenRequest(app, tenant, by, form, proof === null ? {} : { dpop: proof })
      },
  )
  /** Tokens of the user that are bound to the key of the prover. */
  .extend(
    'issueBoundTokens',
    { scope: 'file' },
    ({ prover, newCode, redeem }) =>
      async (by: { id: string; secret: string }) =>
        (await redeem(by, await newCode(by), await prover.prove())).body,
  )
  /** The diagnostics that the event log has about a response. */
  .extend('findDiagnostics', { scope: 'file' }, ({ tenant }) => async ({ headers }: { headers: Headers }) => {
    const requestId = headers.get('x-request-id')
    return (await logOf(tenant)).find((event) => event.requestId === requestId)?.detail
  })
