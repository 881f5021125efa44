import { issuerOf } from '../core/issuer.ts'

/** The redirect URI of a tenant at an identity provider. Each provider has its own (RFC 9700, section 4.4.2.2). */
export const buildCallbackUrl = (tenant: string, idpId: string): string =>
  `${issuerOf(tenant)}/oidc/callback/${idpId}`
