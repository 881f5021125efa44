import type { H3 } from 'h3'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { API_PATHS, METADATA_PATH } from '../../access/protected-resources.ts'
import { listPublicKeys } from '../../keys/keys.ts'
import { addOAuthRoute, createPublicJson } from '../../pages/responses.http.ts'
import { buildDiscovery, buildResourceMetadata } from './discovery.ts'

const DISCOVERY_MAX_AGE_SECONDS = 300

/** The public metadata and key set of a tenant, and the metadata of its APIs. */
export function addDiscoveryRoutes(app: H3): void {
  const metadata = { GET: showDiscovery }
  addOAuthRoute(app, '/:tenant/.well-known/openid-configuration', metadata)
  // RFC 8414, section 3.1: the path of the issuer follows the well-known path.
  addOAuthRoute(app, '/.well-known/oauth-authorization-server/:tenant', metadata)
  for (const path of API_PATHS) {
    const show = async ({ tenant }: TenantCall): Promise<Response> =>
      createPublicJson(buildResourceMetadata(tenant, path), DISCOVERY_MAX_AGE_SECONDS)
    addOAuthRoute(app, `${METADATA_PATH}/:tenant/${path}`, { GET: show })
  }
  addOAuthRoute(app, '/:tenant/.well-known/jwks.json', { GET: showPublicKeys })
}

const showDiscovery = async ({ tenant }: TenantCall): Promise<Response> =>
  createPublicJson(buildDiscovery(tenant), DISCOVERY_MAX_AGE_SECONDS)

const showPublicKeys = async ({ tenant }: TenantCall): Promise<Response> =>
  createPublicJson(await listPublicKeys(tenant.tenantId), DISCOVERY_MAX_AGE_SECONDS)
