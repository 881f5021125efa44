/** Client authentication methods (OIDC Core, section 9). */
export const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const
