/** Loopback redirect URI of a native application; the groups leave out the port (RFC 8252, section 7.3). */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::[1-9]\d{0,4})?((?:[/?][^\s#\\]*)?)$/

function removeLoopbackPort(uri: string): string | null {
  // The pattern also matches ports above 65535.
  const match = URL.canParse(uri) ? LOOPBACK.exec(uri) : null
  return match && `${match[1]}${match[2]}`
}

/** What decides which redirect URIs of a client may vary. */
export type RedirectingClient = { appType: string; registeredBy: string }

/** The part of a URI that is compared: that of a client whose loopback URIs have any port is without the port. */
export function toComparedUri({ appType, registeredBy }: RedirectingClient, uri: string): string {
  const mayVary = appType === 'native' || registeredBy === 'document'
  return (mayVary ? removeLoopbackPort(uri) : null) ?? uri
}

/**
 * Whether `uri` is registered for the client. Compared byte for byte (RFC 9700, section 2.1), without
 * parsing, decoding or normalization; only the port of a loopback URI may vary (RFC 8252, section 7.3), for a native
 * application and for a metadata document, which often lists the web and the native redirect URIs of one client.
 */
export function isRegisteredRedirect(
  client: RedirectingClient & { callbacks: readonly string[] },
  uri: string,
): boolean {
  const given = toComparedUri(client, uri)
  return client.callbacks.some((registered) => toComparedUri(client, registered) === given)
}
