/** Public clients (RFC 6749, section 2.1), which run on the device of the user and use PKCE instead of a secret. */
export const isPublicClient = (client: { appType: string }): boolean =>
  client.appType === 'single-page' || client.appType === 'native'
