export const APP_TYPES = ['single-page', 'web', 'native', 'machine'] as const
export type AppType = (typeof APP_TYPES)[number]
/** Apps that can keep a secret. What runs in a browser or on a person's device cannot (RFC 8252, section 8.5). */
export const HAS_SECRET: Record<AppType, boolean> = {
  web: true,
  machine: true,
  'single-page': false,
  native: false,
}
/** Who made a client: an administrator, it itself (RFC 7591), or whoever publishes the document that its id is the URL of. */
export const REGISTERED_BY = ['administrator', 'registration', 'document'] as const
export type RegisteredBy = (typeof REGISTERED_BY)[number]
export const CLIENT_TYPES = ['login', 'payment'] as const
export type ClientType = (typeof CLIENT_TYPES)[number]
