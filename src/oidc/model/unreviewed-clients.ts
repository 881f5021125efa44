import { isLoopbackHost } from '../../schema/url-shapes.ts'

/** Whether a client exists by its metadata document alone: no administrator has reviewed its addresses. */
export const isUnreviewed = (client: { registeredBy: string } | null): boolean =>
  client?.registeredBy === 'document'

/** The host of a URL, or the scheme of one without a host. */
const toPlace = (url: URL): string => url.host || url.protocol

/**
 * Where the response of an unreviewed client goes, if not to the host that publishes the client; null
 * otherwise. An application on the device of the user has a loopback address or a private-use scheme.
 */
export function findOtherDestination(
  client: { id: string; registeredBy: string },
  redirectUri: string,
): { place: string; isOnDevice: boolean } | null {
  if (!isUnreviewed(client)) return null
  const destination = new URL(redirectUri)
  if (destination.origin === new URL(client.id).origin) return null
  const isWeb = destination.protocol === 'https:' || destination.protocol === 'http:'
  return { place: toPlace(destination), isOnDevice: !isWeb || isLoopbackHost(destination.hostname) }
}
