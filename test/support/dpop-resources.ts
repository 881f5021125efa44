import { createNonce } from '../../src/access/dpop/dpop-nonces.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { TENANT_SCOPES } from './actors.ts'
import { test as base } from './fixtures.ts'
import { makeKey, makeProof } from './proofs.ts'

/** An origin of the client that the tokens are issued to. */
export const ORIGIN = 'https://admin.example.com'

/** `test` with a token that is bound to a key and one that is not, for the management API of the tenant. */
export const test = base
  .extend('machine', { scope: 'file' }, ({ newClient }) =>
    newClient({ appType: 'machine', callbacks: [], scopes: TENANT_SCOPES, allowedOrigins: [ORIGIN] }),
  )
  .extend('keys', { scope: 'file' }, async () => ({ key: await makeKey(), otherKey: await makeKey() }))
  .extend(
    'issueToken',
    { scope: 'file' },
    ({ tenant, machine }) =>
      (dpopJkt: string | null, scopes = TENANT_SCOPES): Promise<string> =>
        issueAccessToken(tenant, {
          subject: machine.id,
          clientId: machine.id,
          scopes,
          audience: [apiAudienceOf(tenant)],
          lifetimeSeconds: 600,
          dpopJkt,
        }),
  )
  .extend('bound', { scope: 'file' }, ({ issueToken, keys }) => issueToken(keys.key.thumbprint))
  .extend('bearer', { scope: 'file' }, ({ issueToken }) => issueToken(null))
  .extend(
    'urlOf',
    { scope: 'file' },
    ({ tenant }) =>
      (path: string) =>
        `http://localhost:3000/${tenant}${path}`,
  )
  /** A valid proof for a path of the tenant with `bound`, with changes. */
  .extend(
    'proveFor',
    { scope: 'file' },
    ({ urlOf, keys, bound }) =>
      (method: string, path: string, claims: object = {}, by = keys.key, token = bound) =>
        makeProof(by, { method, url: urlOf(path), nonce: createNonce(), token }, { claims }),
  )
