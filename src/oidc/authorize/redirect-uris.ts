/** A native application's loopback redirect: everything but the port (RFC 8252, section 7.3). */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::[1-9]\d{0,4})?((?:[/?][^\s#\\]*)?)$/

function withoutLoopbackPort(uri: string): string | null {
  // Not every port of five digits is one.
  const match = URL.canParse(uri) ? LOOPBACK.exec(uri) : null
  return match && `${match[1]}${match[2]}`
}

/**
 * Whether a client may be answered at `uri`. Byte for byte (RFC 9700, section 2.1): nothing is parsed, decoded or
 * normalised first. Only the port of a native application's loopback address may vary (RFC 8252, section 7.3).
 */
export function isRegisteredRedirect(
  client: { appType: string; callbacks: readonly string[] },
  uri: string,
): boolean {
  if (client.callbacks.includes(uri)) return true
  const given = client.appType === 'native' ? withoutLoopbackPort(uri) : null
  return given !== null && client.callbacks.some((registered) => withoutLoopbackPort(registered) === given)
}

/**
 * Where a form on the way back to a client may end up. Browsers hold every redirect after a form to form-action, so that
 * a client whose callback leads on to another of its origins needs that one admitted too: those that it has registered are.
 */
export const destinationsOf = (
  client: Record<'callbacks' | 'allowedOrigins' | 'webOrigins', readonly string[]>,
  redirectUri: string,
): string[] => [redirectUri, ...client.callbacks, ...client.allowedOrigins, ...client.webOrigins]

/** `uri` with parameters added to its query, which is kept as it is (RFC 6749, section 4.1.2). Null ones are left out. */
export function withParameters(uri: string, parameters: Record<string, string | null>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null)
  if (given.length === 0) return toHeader(uri)
  const separator = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?'
  return toHeader(`${uri}${separator}${new URLSearchParams(given)}`)
}

/** Registered addresses may have letters that a header cannot. */
const toHeader = (uri: string): string => uri.replace(/[^\x21-\x7e]+/g, encodeURIComponent)

/** The letters that an error_description may have (RFC 6749, section 5.2): names from the request have any. */
export const describable = (text: string): string => text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?')
