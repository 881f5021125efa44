import type { H3 } from 'h3'
import { oauthError, publicJson } from './answers.routes.ts'
import { addRoute, type Call } from './call.routes.ts'
import { discoveryOf } from './discovery.ts'
import { publicKeys } from './keys/keys.ts'

const DISCOVERY_MAX_AGE_SECONDS = 300

/** What anybody may know of a tenant's provider: its metadata and its keys. */
export function addDiscoveryRoutes(app: H3): void {
  const metadata = { GET: discovery, HEAD: discovery }
  addRoute(app, '/:tenant/.well-known/openid-configuration', metadata, oauthError)
  // RFC 8414, section 3.1 puts the issuer's path behind the well-known one.
  addRoute(app, '/.well-known/oauth-authorization-server/:tenant', metadata, oauthError)
  addRoute(app, '/:tenant/.well-known/jwks.json', { GET: keys, HEAD: keys }, oauthError)
}

const discovery = async ({ tenant }: Call): Promise<Response> =>
  publicJson(discoveryOf(tenant), DISCOVERY_MAX_AGE_SECONDS)

const keys = async ({ tenant }: Call): Promise<Response> =>
  publicJson(await publicKeys(tenant.tenantId), DISCOVERY_MAX_AGE_SECONDS)
