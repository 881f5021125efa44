import { LRUCache } from 'lru-cache'
import * as oidc from 'openid-client'
import * as z from 'zod'
import type { Provider } from './provider.ts'
import { awaitProvider, fetchFromProvider, toUnavailable } from './provider-fetch.ts'

const endpoint = z.string().max(2000).refine(URL.canParse).optional()
/** The members of a provider's metadata that are used (OIDC Discovery, section 3; RFC 8414). */
const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  userinfo_endpoint: endpoint,
  jwks_uri: endpoint,
  introspection_endpoint: endpoint,
  end_session_endpoint: endpoint,
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
})
type Metadata = z.infer<typeof Metadata>

/** discovery() requires a client id, and sends none. */
const ANY_CLIENT = 'any'

/**
 * Reads the metadata that an issuer publishes. Throws Unavailable, also for the metadata of another issuer.
 */
async function discover(issuer: string): Promise<Metadata> {
  const config = await awaitProvider(
    oidc.discovery(new URL(issuer), ANY_CLIENT, undefined, oidc.None(), {
      // Where https is required, the guarded fetcher requires it.
      execute: [oidc.allowInsecureRequests],
      [oidc.customFetch]: fetchFromProvider,
    }),
  )
  const { data: metadata, error } = Metadata.safeParse(config.serverMetadata())
  if (!metadata) throw toUnavailable(`the metadata of ${issuer} is not valid`, error)
  // openid-client exempts issuers of Microsoft, and ignores a trailing slash (OIDC Discovery, section 4.3:
  // identical).
  if (metadata.issuer !== issuer) throw toUnavailable(`the metadata of ${issuer} names ${metadata.issuer}`)
  return metadata
}

/** Shared by all tenants: the metadata does not depend on the client. Errors are not kept. */
const metadataByIssuer = new LRUCache<string, Metadata>({
  max: 500,
  ttl: 600_000,
  fetchMethod: discover,
  ignoreFetchAbort: true,
})

/** Returns the provider's metadata; null where it is not found through an issuer. Throws Unavailable. */
export async function findMetadata({ row, type }: Provider): Promise<Metadata | null> {
  return (type.discovers && row.issuer && (await metadataByIssuer.fetch(row.issuer))) || null
}

const METADATA_NAMES = {
  authorizationEndpoint: 'authorization_endpoint',
  tokenEndpoint: 'token_endpoint',
  userInfoEndpoint: 'userinfo_endpoint',
  jwksUri: 'jwks_uri',
  introspectionEndpoint: 'introspection_endpoint',
  endSessionEndpoint: 'end_session_endpoint',
} as const satisfies Record<string, keyof Metadata>
type EndpointName = keyof typeof METADATA_NAMES
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
