import { env } from './env.ts'

/** The issuer identifier of a tenant, also its base URL. Never taken from a request. */
export const issuerOf = (tenant: string): string => `${env.baseUrl}/${tenant}`

/** The audience of tokens for a tenant's management surface. */
export const apiAudienceOf = (tenant: string): string => `${issuerOf(tenant)}/api`

/** Whether an audience is an endpoint of this deployment: the management API or userinfo of some tenant. */
export const isOwnAudience = (audience: string): boolean =>
  audience.startsWith(`${env.baseUrl}/`) &&
  /^[^/]+\/(api|oidc\/userinfo)$/.test(audience.slice(env.baseUrl.length + 1))
