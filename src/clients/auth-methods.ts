/** Client authentication methods (OIDC Core, section 9). */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const

/** Public clients (RFC 6749, section 2.1), which use PKCE instead of a secret. */
export const isPublicClient = (client: { appType: string }): boolean =>
  client.appType === 'single-page' || client.appType === 'native'
