import { createNonce } from '../../src/access/dpop/dpop-nonces.ts'
import { sha256Base64url } from '../../src/core/crypto.ts'
import type { Client } from '../../src/generated/prisma/client.ts'
import { JWT_BEARER } from './client-assertions.ts'
import { type ClientKey, makeAssertion, makeKey, makeProof } from './proofs.ts'
import { answerIn, REDIRECT_URI, type TokenAnswer, VERIFIER } from './protocol.ts'
import { test as base } from './visitor.ts'

type Form = Record<string, string | null>
/** How a request deviates from a valid one: null leaves the assertion or the proof out. */
export type Deviation = { assertion?: string | null; proof?: string | null; url?: string }

export const MODULE = 'fapi2-security-profile-final'
export const INVALID_CLIENT = { status: 401, body: { error: 'invalid_client' } }
export const rejectedWith = (error: string) => ({ status: 400, body: { error } })

const withoutNulls = (form: Form): Record<string, string> =>
  Object.fromEntries(Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== null))

/** A client with the profile fapi2, and its keys. */
export type Party = { client: Client; key: ClientKey }

/** `test` with clients that have the profile fapi2 and a user who is signed in. */
export const test = base
  .extend('issuer', { scope: 'file' }, ({ tenant }) => `http://localhost:3000/${tenant}`)
  .extend('newParty', { scope: 'file' }, ({ newClient }) => async (alg = 'ES256'): Promise<Party> => {
    const key = await makeKey(alg)
    return { key, client: await newClient({ profile: 'fapi2', jwks: { keys: [key.jwk] } }) }
  })
  .extend('party', { scope: 'file' }, ({ newParty }) => newParty())
  .extend('another', { scope: 'file' }, ({ newParty }) => newParty())
  /** The DPoP key of the party, and one of someone else. */
  .extend('proofKey', { scope: 'file' }, async () => makeKey())
  .extend('otherKey', { scope: 'file' }, async () => makeKey())
  /** Signs a valid assertion with changes. */
  .extend(
    'assert',
    { scope: 'file' },
    ({ issuer, party }) =>
      (claims: object = {}, { key, client }: Party = party): Promise<string> =>
        makeAssertion(key, { clientId: client.id, audience: issuer }, { claims }),
  )
  /** Signs a valid proof for a POST to an endpoint, with changes. */
  .extend(
    'prove',
    { scope: 'file' },
    ({ issuer, proofKey }) =>
      (at = 'token', claims: object = {}, header: object = {}, key = proofKey): Promise<string> =>
        makeProof(
          key,
          { method: 'POST', url: `${issuer}/oidc/${at}`, nonce: createNonce() },
          { claims, header },
        ),
  )
  /** Sends a form of the party to an endpoint. */
  .extend(
    'send',
    { scope: 'file' },
    ({ app, tenant, assert }) =>
      async (at: string, form: Form, deviation: Deviation, by?: Party): Promise<TokenAnswer> => {
        const { assertion = await assert({}, by), proof = null } = deviation
        const response = await app.fetch(`/${tenant}/oidc/${at}`, {
          method: 'POST',
          headers: proof === null ? {} : { dpop: proof },
          body: new URLSearchParams(
            withoutNulls({
              client_assertion: assertion,
              client_assertion_type: assertion && JWT_BEARER,
              ...form,
            }),
          ),
        })
        return {
          status: response.status,
          headers: response.headers,
          body: (await response.json()) as Record<string, string>,
        }
      },
  )
  /** Pushes a valid request with changes. */
  .extend(
    'push',
    { scope: 'file' },
    ({ party, send }) =>
      (more: Form = {}, deviation: Deviation = {}, by: Party = party) =>
        send(
          'par',
          {
            client_id: by.client.id,
            response_type: 'code',
            redirect_uri: REDIRECT_URI,
            scope: 'openid',
            state: 'a-state',
            nonce: 'a-nonce',
            code_challenge: sha256Base64url(VERIFIER),
            code_challenge_method: 'S256',
            ...more,
          },
          deviation,
          by,
        ),
  )
  .extend(
    'pathFor',
    { scope: 'file' },
    ({ tenant, party }) =>
      (requestUri: string | undefined, more: Record<string, string> = {}) =>
        `/${tenant}/oidc/authorize?${new URLSearchParams({ client_id: party.client.id, request_uri: requestUri ?? '', ...more })}`,
  )
  /** Pushes a request and opens it in the browser of the signed-in user; returns the answer. */
  .extend(
    'authorize',
    { scope: 'file' },
    ({ visitor, push, pathFor }) =>
      async (more: Form = {}, deviation: Deviation = {}, inUrl: Record<string, string> = {}) => {
        const { status, body } = await push(more, deviation)
        if (status !== 201) throw new Error(`not pushed: ${JSON.stringify(body)}`)
        const response = await visitor.browser.fetch(pathFor(body.request_uri, inUrl))
        return answerIn(response.headers.get('location'))
      },
  )
  /** Redeems a code, by default with everything that the profile demands. */
  .extend(
    'redeem',
    { scope: 'file' },
    ({ send, prove }) =>
      async (code: string | undefined, more: Form = {}, deviation: Deviation = {}, by?: Party) =>
        send(
          'token',
          {
            grant_type: 'authorization_code',
            code: code ?? '',
            redirect_uri: REDIRECT_URI,
            code_verifier: VERIFIER,
            ...more,
          },
          { proof: await prove(), ...deviation },
          by,
        ),
  )
  .extend(
    'refresh',
    { scope: 'file' },
    ({ send, prove }) =>
      async (token: string | undefined, deviation: Deviation = {}, by?: Party) =>
        send(
          'token',
          { grant_type: 'refresh_token', refresh_token: token ?? '' },
          { proof: await prove(), ...deviation },
          by,
        ),
  )
  /** Reads userinfo with a bound token and a proof for it, with changes. */
  .extend(
    'callUserinfo',
    { scope: 'file' },
    ({ app, tenant, issuer, proofKey }) =>
      async (token: string | undefined, { scheme = 'DPoP', key = proofKey, claims = {} } = {}) => {
        const url = `${issuer}/oidc/userinfo`
        const target = { method: 'GET', url, nonce: createNonce(), token: token ?? '' }
        const proof = await makeProof(key, target, { claims })
        return app.fetch(`/${tenant}/oidc/userinfo`, {
          headers: { authorization: `${scheme} ${token}`, ...(scheme !== 'Bearer' && { dpop: proof }) },
        })
      },
  )
