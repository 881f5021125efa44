/** How clients may authenticate (OIDC Core, section 9). */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const

/** Clients that can keep no secret; PKCE stands in for it (RFC 6749, section 2.1). */
export const isPublic = (client: { appType: string }): boolean =>
  client.appType === 'single-page' || client.appType === 'native'
