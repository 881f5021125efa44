export const APP_TYPES = ['single-page', 'web', 'native', 'machine'] as const
export type AppType = (typeof APP_TYPES)[number]
/**
 * App types that can keep a secret. Code in a browser or on a user's device cannot (RFC 8252, section 8.5).
 */
export const HAS_SECRET: Record<AppType, boolean> = {
  web: true,
  machine: true,
  'single-page': false,
  native: false,
}
/**
 * Who created a client: an administrator, dynamic registration (RFC 7591) with the token of an administrator or open to
 * anyone, or the publisher of its metadata document.
 */
export const REGISTERED_BY = ['administrator', 'registration', 'open-registration', 'document'] as const
export type RegisteredBy = (typeof REGISTERED_BY)[number]
export const CLIENT_TYPES = ['login', 'payment'] as const
export type ClientType = (typeof CLIENT_TYPES)[number]
