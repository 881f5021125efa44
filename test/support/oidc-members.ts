import { exportJWK, generateKeyPair } from 'jose'
import { test as base, OIDC_MEMBERS } from './client-writers.ts'
import { sql } from './database.ts'
import type { Json } from './json.ts'

type Fields = Record<string, unknown>
/** Public keys by their algorithm, and keys that no client can have: X25519, weak, private. */
export type Keys = Record<string, Fields>

/** The defaults of these members. */
export const UNSET = {
  jwks: null,
  backchannelLogoutUrl: null,
  idTokenSigningAlg: null,
  userInfoSigningAlg: null,
  idTokenClaims: false,
  requirePushedRequests: false,
  requireSecondFactor: false,
  defaultMaxAge: null,
  resources: [],
}

/** The field and description of each issue in an error. */
export const toIssues = ({ fields }: Json): [string, string][] =>
  fields?.map(({ field, description }: Json) => [field, description])

const makePublicJwk = async (alg: string, options?: object) => ({
  ...(await exportJWK((await generateKeyPair(alg, { extractable: true, ...options })).publicKey)),
})

export const test = base
  .extend('keys', { scope: 'file' }, async (): Promise<Keys> => {
    const keys: Keys = {}
    for (const alg of ['ES256', 'ES384', 'ES512', 'RS256', 'EdDSA']) keys[alg] = await makePublicJwk(alg)
    keys.X25519 = await makePublicJwk('ECDH-ES', { crv: 'X25519' })
    // jose generates no key of 1024 bits.
    keys.weak = {
      kty: 'RSA',
      e: 'AQAB',
      n: Buffer.concat([Buffer.of(0xc1), Buffer.alloc(127, 0x55)]).toString('base64url'),
    }
    keys.private = {
      ...(await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)),
    }
    return keys
  })
  /** A value of each member. */
  .extend(
    'given',
    { scope: 'file' },
    ({ keys }) =>
      (): Fields => ({
        jwks: { keys: [{ ...keys.ES256, kid: 'one', use: 'sig', alg: 'ES256' }, keys.RS256] },
        backchannelLogoutUrl: 'https://shop.example/logout?from=vestibule',
        idTokenSigningAlg: 'EdDSA',
        userInfoSigningAlg: 'ES384',
        idTokenClaims: true,
        requirePushedRequests: true,
        requireSecondFactor: true,
        defaultMaxAge: 86_400,
        resources: ['https://api.shop.example/v1', 'urn:example:orders'],
      }),
  )
  /** The members of a client as the database has them. */
  .extend('findStored', { scope: 'file' }, ({ tenant }) => async (id: string) => {
    const [row] = await sql<Fields>(
      `SELECT ${OIDC_MEMBERS.map((name) => `"${name}"`)} FROM "Client" WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, id],
    )
    return row
  })
  /** The names of the fields that each update of a client changed. */
  .extend('listUpdates', { scope: 'file' }, ({ events }) => async (id: string) => {
    const updates = await events({ subjectId: id, type: 'client.updated' })
    return updates.map(({ changedFields }) => changedFields)
  })
