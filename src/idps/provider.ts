import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { InvalidInput, Unavailable } from '../errors.ts'
import { FetchFault, type FetchInit, guardedFetch } from '../fetcher.ts'
import { parse } from '../fields.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { type IdpType, PROVIDER_TYPES, type ProviderType } from './provider-types.ts'

/** The provider does not do what it should. Callers are told no more than that; `reason` is for the log. */
export const providerFault = (reason: string, cause?: unknown): Unavailable =>
  new Unavailable(
    'The identity provider could not be asked, or gave no proper answer; try again.',
    new Error(reason, { cause }),
  )

/** What the provider says against a proof. */
export const refusedProof = (field: string, description: string): InvalidInput =>
  new InvalidInput([{ field, description }])

/** Fetches from a provider. Throws Unavailable when there is no answer, or one that says that it has a fault. */
export async function askProvider(url: string, init?: FetchInit): Promise<Response> {
  try {
    const response = await guardedFetch(url, init)
    if (response.status >= 500 || response.status === 429)
      throw providerFault(`${new URL(url).hostname} answered ${response.status}`)
    return response
  } catch (error) {
    throw error instanceof FetchFault ? providerFault(error.message, error.cause) : error
  }
}

/** The JSON object in an answer. Throws Unavailable for anything else. */
export async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json().catch(() => null)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw providerFault(`the answer with status ${response.status} is no JSON object`)
  return body as Record<string, unknown>
}

const endpoint = z.string().max(2000).refine(URL.canParse).optional()
/** What we use of a provider's metadata (OIDC Discovery, section 3; RFC 8414). */
const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  userinfo_endpoint: endpoint,
  jwks_uri: endpoint,
  introspection_endpoint: endpoint,
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
})
type Metadata = z.infer<typeof Metadata>

/** Metadata changes rarely; what is here is the same for every tenant. */
const METADATA_LIFETIME_MS = 600_000
const metadataByIssuer = new LRUCache<string, Metadata>({ max: 500, ttl: METADATA_LIFETIME_MS })

/** The metadata that an issuer publishes. Throws Unavailable, also when it is another issuer's. */
async function discover(issuer: string): Promise<Metadata> {
  const known = metadataByIssuer.get(issuer)
  if (known) return known
  const response = await askProvider(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  if (response.status !== 200) throw providerFault(`${issuer} publishes no metadata: ${response.status}`)
  const body = await jsonOf(response)
  let metadata: Metadata
  try {
    metadata = parse(Metadata, body)
  } catch (error) {
    throw providerFault(`the metadata of ${issuer} has faults`, error)
  }
  // OIDC Discovery, section 4.3: else one provider could speak for another.
  if (metadata.issuer !== issuer) throw providerFault(`the metadata of ${issuer} is of ${metadata.issuer}`)
  metadataByIssuer.set(issuer, metadata)
  return metadata
}

type EndpointName = 'tokenEndpoint' | 'userInfoEndpoint' | 'jwksUri' | 'introspectionEndpoint'
const METADATA_NAMES = {
  tokenEndpoint: 'token_endpoint',
  userInfoEndpoint: 'userinfo_endpoint',
  jwksUri: 'jwks_uri',
  introspectionEndpoint: 'introspection_endpoint',
} as const satisfies Record<EndpointName, keyof Metadata>

/** A provider as proofs are checked with it: its row, secrets readable, over what is known of its type. */
export type Provider = {
  row: IdentityProvider
  type: ProviderType
  /** Its one issuer; '' for one that has none. Null where the issuer depends on the person's organisation. */
  issuer: string | null
  /** Whether claim `iss`, beside the others, names this provider. */
  isIssuer: (claims: { iss?: string; tid?: unknown }) => boolean
  /** The URL of an endpoint; null when there is none. Throws Unavailable. */
  endpoint: (name: EndpointName) => Promise<string | null>
  /** How a client authenticates at the token endpoint. Throws Unavailable. */
  clientAuthentication: () => Promise<'basic' | 'post'>
}

const ORGANISATION = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Makes a provider of a row whose secrets were opened. Nothing is asked of anybody yet. */
export function providerOf(row: IdentityProvider): Provider {
  const type = PROVIDER_TYPES[row.type as IdpType]
  const { issuerOfOrganisation } = type
  const issuer = row.issuer ?? type.issuer ?? (issuerOfOrganisation ? null : '')
  const isOfType = !row.issuer || row.issuer === type.issuer
  const discovered = async (): Promise<Metadata | null> =>
    type.discovers && row.issuer ? discover(row.issuer) : null
  return {
    row,
    type,
    issuer,
    isIssuer: ({ iss, tid }) => {
      if (!iss) return false
      if (issuer === null)
        return typeof tid === 'string' && ORGANISATION.test(tid) && issuerOfOrganisation?.(tid) === iss
      return iss === issuer || (isOfType && (type.issuerAliases?.includes(iss) ?? false))
    },
    endpoint: async (name) => {
      const own = name === 'introspectionEndpoint' ? null : row[name]
      if (own) return own
      const published = (await discovered())?.[METADATA_NAMES[name]]
      if (published) return published
      return isOfType && name !== 'introspectionEndpoint' ? (type[name] ?? null) : null
    },
    clientAuthentication: async () => {
      const methods = (await discovered())?.token_endpoint_auth_methods_supported
      if (!methods || methods.includes(`client_secret_${type.clientAuthentication}`))
        return type.clientAuthentication
      return methods.includes('client_secret_post') ? 'post' : 'basic'
    },
  }
}

/** The OAuth client id at the provider, without which nothing is proven. Throws InvalidInput about idpId. */
export function clientIdOf({ row }: Provider): string {
  if (!row.clientId) throw refusedProof('idpId', 'is a provider without a clientId, which proves nothing')
  return row.clientId
}
