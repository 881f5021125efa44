import { apiAudienceOf, issuerOf } from '../core/issuer.ts'

/** The management APIs of a tenant as protected resources (RFC 9728), by their paths below the issuer. */
export const API_PATHS = ['api/v1', 'graphql'] as const
export type ApiPath = (typeof API_PATHS)[number]

/** The resource identifier of an API: its URL, which is also the `htu` of DPoP proofs for GraphQL. */
export const apiResourceOf = (tenant: string, path: ApiPath): string => `${issuerOf(tenant)}/${path}`

/**
 * The audience of tokens for a resource. The APIs of a tenant share theirs: scopes permit the same at both (RFC 8707,
 * section 2, permits such a mapping).
 */
export const toAudience = (tenant: string, resource: string): string =>
  API_PATHS.some((path) => apiResourceOf(tenant, path) === resource) ? apiAudienceOf(tenant) : resource

/** RFC 9728, section 3.1: the path of the resource follows the well-known path. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

const TOKEN_CHALLENGE = /^(?:Bearer|DPoP)(?= |$)/
/** Between two challenges; descriptions have no such text. */
const SEPARATOR = /, (?=(?:Bearer|DPoP)(?: |$))/

/**
 * Adds the URL of the metadata of an API to its challenges (RFC 9728, section 5.1). Those of other schemes stay as they
 * are.
 */
export function addResourceMetadata(challenge: string, tenant: string, path: ApiPath): string {
  const { origin, pathname } = new URL(apiResourceOf(tenant, path))
  const parameter = `resource_metadata="${origin}${METADATA_PATH}${pathname}"`
  return challenge
    .split(SEPARATOR)
    .map((each) =>
      TOKEN_CHALLENGE.test(each) ? `${each}${each.includes(' ') ? ',' : ''} ${parameter}` : each,
    )
    .join(', ')
}
