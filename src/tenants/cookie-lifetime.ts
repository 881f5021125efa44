/**
 * How long a browser keeps the cookies of a sign-in, in seconds; null: until it is closed. `isWanted` is what the user
 * chose where the tenant asks.
 */
export const selectCookieLifetime = (
  { staySignedIn, sessionLifetimeSeconds }: { staySignedIn: string; sessionLifetimeSeconds: number },
  isWanted = false,
): number | null =>
  staySignedIn === 'always' || (staySignedIn === 'ask' && isWanted) ? sessionLifetimeSeconds : null
