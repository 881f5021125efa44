import { expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import type { CallOptions } from './calls.ts'
import { sql } from './database.ts'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'

export const SURFACES = ['REST', 'GraphQL'] as const

/** The members of a client that OpenID Connect needs in addition to those of SHOP. */
export const OIDC_MEMBERS = [
  'jwks',
  'backchannelLogoutUrl',
  'idTokenSigningAlg',
  'userInfoSigningAlg',
  'idTokenClaims',
  'requirePushedRequests',
  'requireSecondFactor',
  'defaultMaxAge',
  'resources',
]
/** The members that a security profile implies, and the profile. */
export const SECURITY_MEMBERS = [
  'profile',
  'requirePushedRequests',
  'requirePkce',
  'tokenEndpointAuthMethod',
  'requireIssuerAudience',
  'requireFapiAlgorithms',
  'dpopBoundAccessTokens',
  'rotateRefreshTokens',
]
export const CLIENT_FIELDS = `id name description appType themeColor logoUrl callbacks allowedOrigins webOrigins allowedLogoutUrls
  initiateLoginUrl tokenExpiryTime requireConsent type scopes updatedAt createdAt jwksUri clientUri policyUrl termsUrl
  translations { locale name logoUrl policyUrl termsUrl } ${[...OIDC_MEMBERS, ...SECURITY_MEMBERS].join(' ')}`

/** Every member of the specification that a client can be given. */
export const SHOP = {
  name: 'Shop',
  description: 'The shop',
  appType: 'web',
  themeColor: '#0a7c66',
  logoUrl: 'https://shop.example/logo.png',
  callbacks: ['https://shop.example/callback'],
  allowedOrigins: ['https://shop.example'],
  webOrigins: ['https://shop.example'],
  allowedLogoutUrls: ['https://shop.example/bye'],
  initiateLoginUrl: 'https://shop.example/login',
  tokenExpiryTime: 600,
  requireConsent: true,
  scopes: ['users:read'],
} as const

export const NO_CLIENT = expect.objectContaining({ code: 'NOT_FOUND', message: 'No such client.' })
export const UNKNOWN_CLIENT_ID = 'client_01m7xeb1sbendby702xerkqv3p'

type Fields = Record<string, unknown>
/** The response of either API, in the names and values of REST, without the request id. */
export type ClientOutcome = Json
export type ClientWriter = {
  create: (fields: Fields, options?: CallOptions) => Promise<ClientOutcome>
  update: (id: string, fields: Fields, options?: CallOptions) => Promise<ClientOutcome>
  remove: (id: string, options?: CallOptions) => Promise<ClientOutcome>
  rotate: (id: string, input: Fields, options?: CallOptions) => Promise<ClientOutcome>
}

const toEnum = (value: unknown) => String(value).toUpperCase().replace('-', '_')
const fromEnum = (value: string) => value.toLowerCase().replace('_', '-')
const fromAlgorithm = (value: string | null) => (value === 'EDDSA' ? 'EdDSA' : value)

/** Members that are enums of GraphQL. */
const ENUMS = ['appType', 'profile', 'tokenEndpointAuthMethod']

/** Fields as GraphQL takes them. */
const toInput = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' && (ENUMS.includes(name) || name.endsWith('SigningAlg'))
        ? toEnum(value)
        : value,
    ]),
  )

/** A client as REST shows it. */
const toBody = (client: Json): Json => ({
  ...client,
  appType: fromEnum(client.appType),
  type: fromEnum(client.type),
  idTokenSigningAlg: fromAlgorithm(client.idTokenSigningAlg),
  userInfoSigningAlg: fromAlgorithm(client.userInfoSigningAlg),
  profile: client.profile?.toLowerCase() ?? null,
  tokenEndpointAuthMethod: client.tokenEndpointAuthMethod?.toLowerCase() ?? null,
})

/** With `writers`: the operations that write clients, by surface. */
export const test = base
  .extend('writers', { scope: 'file' }, ({ rest, gql }) => {
    const send = async (...args: Parameters<typeof rest>): Promise<ClientOutcome> => {
      const { requestId: _, ...outcome } = (await rest(...args)).body
      return outcome
    }
    const mutate = async (field: string, input: object, selection: string, options?: CallOptions) => {
      const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}Input`
      const { body } = await gql(
        `mutation ($input: ${type}!) { result: ${field}(input: $input) {
          ${selection} ... on UserError { code message } ... on ValidationError { fields { field description } } } }`,
        { input },
        options,
      )
      const [error] = body.errors ?? []
      const { client, ...result } = body.data?.result ?? {
        code: error?.extensions.code,
        message: error?.message,
        fields: error?.extensions.fields ?? [],
      }
      return client ? { ...toBody(client), ...result } : result
    }
    const writers: Record<(typeof SURFACES)[number], ClientWriter> = {
      REST: {
        create: (fields, options) =>
          send('POST', '/clients', { name: 'Shop', type: 'login', appType: 'web', ...fields }, options),
        update: (id, fields, options) => send('PATCH', `/clients/${id}`, fields, options),
        remove: (id, options) => send('DELETE', `/clients/${id}`, undefined, options),
        rotate: (id, input, options) => send('POST', `/clients/${id}/secret`, input, options),
      },
      GraphQL: {
        create: ({ appType = 'web', ...fields }, options) =>
          mutate(
            'createClient',
            { name: 'Shop', type: 'LOGIN', appType: toEnum(appType), ...toInput(fields) },
            `... on CreateClientPayload { secret client { ${CLIENT_FIELDS} } }`,
            options,
          ),
        update: (clientId, fields, options) =>
          mutate(
            'updateClient',
            { clientId, ...toInput(fields) },
            `... on UpdateClientPayload { client { ${CLIENT_FIELDS} } }`,
            options,
          ),
        remove: (clientId, options) =>
          mutate('deleteClient', { clientId }, '... on DeleteClientPayload { deletedClientId }', options),
        rotate: (clientId, input, options) =>
          mutate(
            'rotateClientSecret',
            { clientId, ...input },
            `... on RotateClientSecretPayload { client { ${CLIENT_FIELDS} } secret previousSecretExpiresAt }`,
            options,
          ),
      },
    }
    return writers
  })
  /** Makes a client with the members of SHOP, in the file's tenant or another. */
  .extend('newShop', { scope: 'file' }, ({ tenant }) => async (fields: object = {}, target = tenant) => {
    const { client, secret } = await createClient(createPlatformCtx(target), {
      ...SHOP,
      type: 'login',
      ...fields,
    })
    return { ...client, secret }
  })
  .extend(
    'listSecrets',
    { scope: 'file' },
    ({ tenant }) =>
      (clientId: string) =>
        sql<{ hash: string; expiresAt: Date | null }>(
          `SELECT encode("secretHash", 'hex') AS "hash", "expiresAt" FROM "ClientSecret"
           WHERE "tenantId" = $1 AND "clientId" = $2 ORDER BY "expiresAt" NULLS FIRST`,
          [tenant, clientId],
        ),
  )
  /** The events about a client since its creation. */
  .extend('listChanges', { scope: 'file' }, ({ events }) => async (clientId: string) => {
    const recorded = await events({ subjectId: clientId })
    return recorded
      .filter(({ type }) => type !== 'client.created')
      .map(({ type, changedFields }) => ({ type, changedFields }))
  })
