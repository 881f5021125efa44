import * as openid from 'openid-client'
import { test as base, optionsAt } from './openid-client.ts'
import { type ClientKey, makeAssertion, makeKey } from './proofs.ts'
import type { makeClient } from './protocol.ts'

export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
export const INVALID_CLIENT = {
  error: 'invalid_client',
  error_description: 'Client authentication failed.',
}
/** The fields of a machine client. */
export const MACHINE = { appType: 'machine', callbacks: [], scopes: ['users:read'] }

type Form = Record<string, string>
type Keys = Record<'ec' | 'rsa' | 'stranger', ClientKey>
/** Signs an assertion of the machine client that is valid apart from the changes. */
type Assert = (claims?: object, header?: object, key?: ClientKey) => Promise<string>
/** What an assertion is made of. */
export type Own = {
  assert: Assert
  keys: Keys
  machine: Awaited<ReturnType<typeof makeClient>>
  issuer: string
}

/** `test` with a machine client that authenticates by private_key_jwt. */
export const test = base
  /** The machine client has the first two keys. */
  .extend(
    'keys',
    { scope: 'file' },
    async (): Promise<Keys> => ({
      ec: await makeKey(),
      rsa: await makeKey('RS256'),
      stranger: await makeKey(),
    }),
  )
  .extend('machine', { scope: 'file' }, ({ newClient, keys: { ec, rsa } }) => {
    const jwks = {
      keys: [
        { ...ec.jwk, kid: 'ec' },
        { ...rsa.jwk, kid: 'rsa', alg: 'RS256' },
      ],
    }
    return newClient({ ...MACHINE, jwks })
  })
  .extend(
    'assert',
    { scope: 'file' },
    ({ issuer, keys, machine }): Assert =>
      (claims = {}, header = {}, key = keys.ec) =>
        makeAssertion(
          key,
          { clientId: machine.id, audience: issuer },
          { claims, header: { kid: 'ec', ...header } },
        ),
  )
  /** Requests a token by client_credentials. */
  .extend(
    'send',
    { scope: 'file' },
    ({ oidc }) =>
      (form: Form, headers: Form = {}) =>
        oidc.token({ grant_type: 'client_credentials', ...form }, null, headers),
  )
  .extend(
    'present',
    { scope: 'file' },
    ({ send }) =>
      (assertion: string, form: Form = {}) =>
        send({ client_assertion_type: JWT_BEARER, client_assertion: assertion, ...form }),
  )
  /** The diagnostics that the event of a rejected request has. */
  .extend('readDiagnostics', { scope: 'file' }, ({ events }) => async ({ headers }: { headers: Headers }) => {
    const requestId = headers.get('x-request-id')
    return (await events()).find((event) => event.requestId === requestId)?.detail
  })
  /** A client with a key of an algorithm, as openid-client configures it. */
  .extend(
    'configure',
    { scope: 'file' },
    ({ app, issuer, newClient }) =>
      async (alg: string, fields: object) => {
        const key = await makeKey(alg)
        const { id } = await newClient({ ...fields, jwks: { keys: [{ ...key.jwk, kid: 'k1' }] } })
        const authentication = openid.PrivateKeyJwt({ key: key.privateKey, kid: 'k1' })
        return openid.discovery(new URL(issuer), id, undefined, authentication, optionsAt(app))
      },
  )
