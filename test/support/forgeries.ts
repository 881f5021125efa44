import { createHmac, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { decodeJwt, type JWTPayload } from 'jose'
import { createPlatformCtx } from '../../src/context/context.ts'
import { unseal } from '../../src/core/crypto.ts'
import { Handle } from '../../src/database/handle.ts'
import { selectSigningKeys } from '../../src/keys/keys.sql.ts'
import { SEAL_PURPOSE } from '../../src/keys/keys.ts'
import type { SigningAlgorithm } from '../../src/keys/signing-algorithms.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { test as base } from './fixtures.ts'
import { answerIn, userinfoOf } from './protocol.ts'
import { openSocket } from './streams.ts'

export type SigningKey = { kid: string; privateKey: KeyObject }

/** Reads the private signing key of a tenant for an algorithm. */
export async function readSigningKey(tenant: string, alg: SigningAlgorithm = 'ES256'): Promise<SigningKey> {
  const row = (await selectSigningKeys(new Handle({ tenant }))).find((key) => key.alg === alg)
  const key = unseal(SEAL_PURPOSE, row?.privateKey ?? '')
  return { kid: row?.id ?? '', privateKey: createPrivateKey({ key, format: 'der', type: 'pkcs8' }) }
}

const DIGESTS: Record<SigningAlgorithm, string | null> = {
  ES256: 'sha256',
  RS256: 'sha256',
  ES384: 'sha384',
  EdDSA: null,
}

export const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A JWT with this header, signed with `alg`, which may differ from the algorithm in the header. */
export function signJwt(header: object, payload: object, key: KeyObject, alg: SigningAlgorithm = 'ES256') {
  const input = `${encode(header)}.${encode(payload)}`
  const signature = sign(DIGESTS[alg], Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

/** A JWT with this header and an HMAC under `secret` as its signature. */
export function macJwt(header: object, payload: object, secret: string | Buffer, hash = 'sha256'): string {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}

/** The response of every surface to a rejected and to an accepted access token. */
export const REJECTED = { userinfo: 401, rest: 401, graphql: 401, socket: 4403 }
export const ACCEPTED = { userinfo: 200, rest: 200, graphql: 200, socket: 101 }

/** `test` with an administrator who is signed in at a web client with the scope users:read. */
export const test = base
  .extend('party', { scope: 'file' }, ({ newClient }) => newClient({ scopes: ['users:read'] }))
  .extend('visit', { scope: 'file' }, async ({ tenant, newPerson, newBrowser, oidc, party }) => {
    const user = await newPerson()
    await setUserRoles(createPlatformCtx(tenant), user.id, { roles: ['admin'] })
    const browser = newBrowser()
    const { location } = await oidc.signIn(browser, user.email, { scope: 'openid users:read' }, party)
    const { body } = await oidc.exchange(answerIn(location).code ?? '', {}, party)
    return { browser, accessToken: body.access_token ?? '', idToken: body.id_token ?? '' }
  })
  .extend('key', { scope: 'file' }, async ({ tenant, visit: _ }) => readSigningKey(tenant))
  .extend('claims', { scope: 'file' }, ({ visit }): JWTPayload => decodeJwt(visit.accessToken))
  .extend('idClaims', { scope: 'file' }, ({ visit }): JWTPayload => decodeJwt(visit.idToken))
  /** The header of a valid access token. */
  .extend('header', { scope: 'file' }, ({ key }) => ({ alg: 'ES256', typ: 'at+jwt', kid: key.kid }))
  /** Presents an access token to userinfo, REST, GraphQL and a WebSocket; returns the status of each. */
  .extend(
    'present',
    { scope: 'file' },
    ({ app, tenant: own }) =>
      async (token: string, tenant = own): Promise<Record<string, unknown>> => {
        const client = openSocket(`${app.origin.replace('http', 'ws')}/${tenant}/graphql`, token)
        const connection = new Promise<number>((resolve) => {
          client.on('connected', () => resolve(101))
          client.on('closed', (event) => resolve((event as { code: number }).code))
        })
        const [socket, graphql, userinfo, rest] = await Promise.all([
          connection,
          app.gql(tenant, token, '{ users { page } }'),
          userinfoOf(app, tenant, token),
          app.rest(tenant, token, 'GET', '/users'),
        ])
        await client.dispose()
        return {
          userinfo: userinfo.status,
          rest: rest.status,
          graphql: graphql.body.data?.users ? 200 : graphql.status,
          socket,
        }
      },
  )
  /**
   * Sends an ID token as the hint of an authorize request; returns the error, or undefined when it is
   * accepted.
   */
  .extend('sendHint', { scope: 'file' }, ({ visit, oidc, party }) => async (token: string) => {
    const path = oidc.authorizePath({ prompt: 'none', id_token_hint: token }, party)
    const response = await visit.browser.fetch(path)
    return answerIn(response.headers.get('location')).error
  })
  /** Presents an ID token to the authorize and logout endpoints. A valid one ends the session. */
  .extend('presentIdToken', { scope: 'file' }, ({ tenant, visit, sendHint }) => async (token: string) => ({
    error: await sendHint(token),
    logout: (await visit.browser.fetch(`/${tenant}/oidc/logout?id_token_hint=${token}`)).status,
  }))
/** The response of both endpoints to a rejected ID token. */
export const REJECTED_HINT = { error: 'invalid_request', logout: 400 }
