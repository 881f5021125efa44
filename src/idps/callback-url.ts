import { issuerOf } from '../core/issuer.ts'

/** The redirect URI of a tenant at an identity provider. Each provider has its own (RFC 9700, section 4.4.2.2). */
export const buildCallbackUrl = (tenant: string, idpId: string): string =>
  `${issuerOf(tenant)}/oidc/callback/${idpId}`

/** Where an identity provider sends logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.2). */
export const buildBackchannelLogoutUrl = (tenant: string, idpId: string): string =>
  `${issuerOf(tenant)}/oidc/backchannel-logout/${idpId}`

/** Where an identity provider pushes shared signals (RFC 8935). */
export const buildSignalsUrl = (tenant: string, idpId: string): string =>
  `${issuerOf(tenant)}/ssf/events/${idpId}`

/** Where users come back to from a logout at an identity provider (RP-Initiated Logout 1.0, section 3). */
export const buildLogoutCallbackUrl = (tenant: string, idpId: string): string =>
  `${issuerOf(tenant)}/oidc/logout/callback/${idpId}`
