import { generateKeyPairSync } from 'node:crypto'
import { type GraphQLInputObjectType, GraphQLString } from 'graphql'
import { PROFILE_FIELD_NAMES } from '../../src/model/profile-fields.ts'
import type { CallOptions } from './calls.ts'
import { sql } from './database.ts'
import { test as base } from './fixtures.ts'
import { toVariable } from './graphql-inputs.ts'
import type { Json } from './json.ts'
import { schema, toRestValue } from './schema.ts'

export const SURFACES = ['REST', 'GraphQL'] as const
/** An identity provider, or `{ code, message, fields }`: the same from both surfaces. */
type Outcome = Record<string, Json>
export type IdpWriter = {
  create: (fields: object, options?: CallOptions) => Promise<Outcome>
  update: (id: string, fields: object, options?: CallOptions) => Promise<Outcome>
  remove: (id: string, options?: CallOptions) => Promise<Outcome>
  get: (id: string) => Promise<Outcome>
}

const IDP_FIELDS = `id type name clientId hasClientSecret scopes issuer authorizationEndpoint tokenEndpoint userInfoEndpoint jwksUri
  idTokenSigningAlg hasIdTokenSigningKey hasProvenDomains platformTeamId platformKid organizationId entry domains trustEmail claims { ${PROFILE_FIELD_NAMES.join(' ')} } copyClaims trustAcr trustAmr upstreamLogout usePkce expectNonce keepTokens roleClaim claimRoles { value appRoleId } callbackUrl logoutCallbackUrl backchannelLogoutUrl signalsIssuer signalsUrl hasSignalsSecret missing updatedAt createdAt`
const selectProvider = (payload: string) => `... on ${payload} { identityProvider { ${IDP_FIELDS} } }`

export const pem = (key: { export: (options: Json) => string | Buffer }, type: 'spki' | 'pkcs8') =>
  String(key.export({ format: 'pem', type }))
const P256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
export const PUBLIC_KEY = pem(P256.publicKey, 'spki')
export const PRIVATE_KEY = pem(P256.privateKey, 'pkcs8')
/**
 * Its validity is not checked:
 * `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=upstream -days 1`
 */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUCj+5QYpzxNPgyH+dMRWI9X70fiswCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIdXBzdHJlYW0wHhcNMjYxMTIxMDA0ODA5WhcNMjYxMTIyMDA0
ODA5WjATMREwDwYDVQQDDAh1cHN0cmVhbTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABNNyZhk/P1zf3T5vjoBm4U2WrAa+inoQDU+Ne+qkpBX56X8drK5AXgpopuL3
5cr0w4cL8j2Jp0KrukRU1nYHKEWjUzBRMB0GA1UdDgQWBBSNI/H/R1N8Tt3oysv4
wz/WWdLo6DAfBgNVHSMEGDAWgBSNI/H/R1N8Tt3oysv4wz/WWdLo6DAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIEIwyRCuxIssTxZwwJJw4cEAM6CW
F+81cjBsOWwkM8bKAiEA6TsXTZm/huW7kMs2jmmoGYpmZai3WOSoDWCTHthJlUA=
-----END CERTIFICATE-----
`

/** Every field of an identity provider. */
export const FULL = {
  type: 'oidc',
  name: 'Partner',
  clientId: 'vestibule',
  clientSecret: 'a secret of the provider',
  scopes: 'openid email',
  issuer: 'https://login.partner.example',
  authorizationEndpoint: 'https://login.partner.example/authorize',
  tokenEndpoint: 'https://login.partner.example/token',
  userInfoEndpoint: 'https://login.partner.example/userinfo',
  jwksUri: 'https://login.partner.example/jwks.json',
  idTokenSigningAlg: 'ES256',
  idTokenSigningKey: PUBLIC_KEY,
  platformTeamId: 'TEAM',
  platformKid: 'KID',
  organizationId: null,
  entry: 'domains',
  domains: ['partner.example'],
  trustEmail: true,
  claims: { name: 'display_name' },
  copyClaims: 'always',
  trustAcr: { gold: 'phr' },
  trustAmr: ['mfa'],
  upstreamLogout: true,
  usePkce: false,
  expectNonce: false,
  keepTokens: true,
  roleClaim: 'groups',
  claimRoles: [],
  signalsIssuer: 'https://login.partner.example',
}

const INPUT = schema.getType('CreateIdentityProviderInput') as GraphQLInputObjectType

let count = 0
/** An id that no identity provider has. */
export const newIdpId = () => `idp-${++count}`
export const idpIssues = (...fields: [field: string, description: unknown][]) => ({
  code: 'BAD_USER_INPUT',
  message: 'The request has invalid fields.',
  fields: fields.map(([field, description]) => ({ field, description })),
})
export const NOT_FOUND = { code: 'NOT_FOUND' }
/** The fields as GraphQL takes them; a value that no enum has stays as it is. */
const toVariables = (fields: object): Outcome =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      toVariable(INPUT.getFields()[name]?.type ?? GraphQLString, value)?.value ?? value,
    ]),
  )

/** `test` with the operations of identity providers by surface, and what they store and record. */
export const test = base
  .extend('writers', { scope: 'file' }, ({ rest, gql }) => {
    const call = async (method: string, path: string, body?: unknown, options?: CallOptions) => {
      const answer = await rest(method, `/idps${path}`, body, options)
      const { requestId: _, ...outcome } = answer.body
      return outcome as Outcome
    }
    const mutate = async (field: string, input: object, selection: string, options?: CallOptions) => {
      const { body } = await gql(
        `mutation ($input: ${field.charAt(0).toUpperCase()}${field.slice(1)}Input!) { result: ${field}(input: $input) {
        ${selection} ... on UserError { code message } ... on ValidationError { fields { field description } }
        ${field.startsWith('delete') ? '' : '... on ConflictError { fields { field description } }'} } }`,
        { input },
        options,
      )
      const { identityProvider: idp, ...result } = body.data?.result ?? {
        code: body.errors?.[0]?.extensions.code,
        message: body.errors?.[0]?.message,
        fields: body.errors?.[0]?.extensions.fields ?? [],
      }
      return (idp ? { ...(toRestValue('IdentityProvider', idp) as object), ...result } : result) as Outcome
    }
    const writers: Record<(typeof SURFACES)[number], IdpWriter> = {
      REST: {
        create: (fields, options) => call('POST', '', fields, options),
        update: (id, fields, options) => call('PATCH', `/${id}`, fields, options),
        remove: (id, options) => call('DELETE', `/${id}`, undefined, options),
        get: (id) => call('GET', `/${id}`),
      },
      GraphQL: {
        create: (fields, options) =>
          mutate(
            'createIdentityProvider',
            toVariables(fields),
            selectProvider('CreateIdentityProviderPayload'),
            options,
          ),
        update: (idpId, fields, options) =>
          mutate(
            'updateIdentityProvider',
            { idpId, ...toVariables(fields) },
            selectProvider('UpdateIdentityProviderPayload'),
            options,
          ),
        remove: (idpId, options) =>
          mutate(
            'deleteIdentityProvider',
            { idpId },
            '... on DeleteIdentityProviderPayload { deletedIdentityProviderId }',
            options,
          ),
        get: async (id) => {
          const { body } = await gql(`query ($id: ID!) { identityProvider(id: $id) { ${IDP_FIELDS} } }`, {
            id,
          })
          const found = body.data.identityProvider
          return found ? (toRestValue('IdentityProvider', found) as Outcome) : { code: 'NOT_FOUND' }
        },
      },
    }
    return writers
  })
  .extend(
    'readIdpEvents',
    { scope: 'file' },
    ({ events }) =>
      async (subjectId: string) =>
        (await events({ subjectId })).map(({ type, changedFields, detail }) => ({
          type,
          changedFields,
          detail,
        })),
  )
  .extend('findStored', { scope: 'file' }, ({ tenant }) => async (id: string) => {
    const [row] = await sql<Record<string, string>>(
      `SELECT * FROM "IdentityProvider" WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, id],
    )
    return row
  })
