import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import type { Provider } from './provider.ts'
import { toUnavailable } from './provider-errors.ts'
import { fetchDocument } from './provider-fetch.ts'

/** A member that is not needed: one that cannot be used is as if it were absent. */
const optional = <Shape extends z.ZodType>(shape: Shape) => shape.optional().catch(undefined)
const endpoint = optional(z.string().max(2000).refine(URL.canParse))
/** The methods of client authentication that this server distinguishes. */
const AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post'] as const

/** The members of a provider's metadata that are used (OIDC Discovery, section 3; RFC 8414). */
const Metadata = z.object({
  issuer: z.string().min(1).max(2000),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  userinfo_endpoint: endpoint,
  jwks_uri: endpoint,
  introspection_endpoint: endpoint,
  end_session_endpoint: endpoint,
  token_endpoint_auth_methods_supported: optional(
    z
      .array(z.unknown())
      .transform((methods) => AUTHENTICATION_METHODS.filter((method) => methods.includes(method))),
  ),
  authorization_response_iss_parameter_supported: optional(z.boolean()),
})
type Metadata = z.infer<typeof Metadata>

const withoutSlash = (url: string): string => url.replace(/\/$/, '')

/**
 * Reads the metadata that an issuer publishes (OIDC Discovery, section 4). Throws Unavailable, also for the metadata of
 * another issuer.
 */
async function discover(issuer: string): Promise<Metadata> {
  const body = await fetchDocument(`${withoutSlash(issuer)}/.well-known/openid-configuration`)
  const { data: metadata } = Metadata.safeParse(body)
  if (!metadata) throw toUnavailable('metadata without issuer', `the metadata of ${issuer} has no issuer`)
  // OIDC Discovery, section 4.3: identical.
  if (metadata.issuer !== issuer)
    throw toUnavailable(
      withoutSlash(metadata.issuer) === withoutSlash(issuer) ? 'issuer differs by a slash' : 'issuer differs',
      `the metadata of ${issuer} names ${metadata.issuer}`,
    )
  return metadata
}

/** Shared by all tenants: the metadata does not depend on the client. Errors are not kept. */
const metadataByIssuer = new LRUCache<string, Metadata>({
  max: 500,
  ttl: 600_000,
  fetchMethod: discover,
  ignoreFetchAbort: true,
  noDeleteOnFetchRejection: true,
})

type FindOptions = {
  /** Whether it is fetched again. */
  forceRefresh?: boolean
}

/** Returns the provider's metadata; null where it is not found through an issuer. Throws Unavailable. */
export async function findMetadata(
  { row, type }: Provider,
  options: FindOptions = {},
): Promise<Metadata | null> {
  return (type.discovers && row.issuer && (await metadataByIssuer.fetch(row.issuer, options))) || null
}

const METADATA_NAMES = {
  authorizationEndpoint: 'authorization_endpoint',
  tokenEndpoint: 'token_endpoint',
  userInfoEndpoint: 'userinfo_endpoint',
  jwksUri: 'jwks_uri',
  introspectionEndpoint: 'introspection_endpoint',
  endSessionEndpoint: 'end_session_endpoint',
} as const satisfies Record<string, keyof Metadata>
export type EndpointName = keyof typeof METADATA_NAMES
type Endpoints = Partial<Record<EndpointName, string | null>>

/**
 * Returns the URL of an endpoint: the one that an administrator configured, else the published one, else the
 * one of the provider's type; null without any. Throws Unavailable.
 */
export async function findEndpoint(provider: Provider, name: EndpointName): Promise<string | null> {
  const configured: Endpoints = provider.row
  if (configured[name]) return configured[name]
  const published = (await findMetadata(provider))?.[METADATA_NAMES[name]]
  const ofType: Endpoints = provider.hasIssuerOfType ? provider.type : {}
  return published ?? ofType[name] ?? null
}
