/** Loopback redirect URI of a native application; the groups leave out the port (RFC 8252, section 7.3). */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::[1-9]\d{0,4})?((?:[/?][^\s#\\]*)?)$/

function removeLoopbackPort(uri: string): string | null {
  // The pattern also matches ports above 65535.
  const match = URL.canParse(uri) ? LOOPBACK.exec(uri) : null
  return match && `${match[1]}${match[2]}`
}

/**
 * Whether `uri` is registered for the client. Compared byte for byte (RFC 9700, section 2.1), without
 * parsing, decoding or normalization; only the port of a native application's loopback URI may vary (RFC
 * 8252, section 7.3).
 */
export function isRegisteredRedirect(
  client: { appType: string; callbacks: readonly string[] },
  uri: string,
): boolean {
  if (client.callbacks.includes(uri)) return true
  const given = client.appType === 'native' ? removeLoopbackPort(uri) : null
  return given !== null && client.callbacks.some((registered) => removeLoopbackPort(registered) === given)
}
