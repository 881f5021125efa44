import { isPublicClient } from '../../model/public-clients.ts'
import { isLoopbackHost } from '../../schema/url-shapes.ts'

/**
 * Whether a client exists by its metadata document or by open registration alone: no administrator has reviewed its
 * addresses.
 */
export const isUnreviewed = (client: { registeredBy: string } | null): boolean =>
  client?.registeredBy === 'document' || client?.registeredBy === 'open-registration'

/** Whether anyone can make requests as a client: it has no secret, or strangers registered it. */
export const isOpenToStrangers = (
  client: Parameters<typeof isPublicClient>[0] & { registeredBy: string },
): boolean => isPublicClient(client) || isUnreviewed(client)

/** The host of a URL, or the scheme of one without a host. */
const toPlace = (url: URL): string => url.host || url.protocol

/**
 * Where a response goes. An application on the device of the user has a loopback address or a private-use scheme.
 * `isOther`: the client is not reviewed, and the host that publishes it, if any, is another one.
 */
export type Destination = { place: string; isOnDevice: boolean; isOther: boolean }

/** Where the response to a request of a client goes. */
export function describeDestination(
  client: { id: string; registeredBy: string },
  redirectUri: string,
): Destination {
  const destination = new URL(redirectUri)
  const isWeb = destination.protocol === 'https:' || destination.protocol === 'http:'
  return {
    place: toPlace(destination),
    isOnDevice: !isWeb || isLoopbackHost(destination.hostname),
    isOther:
      client.registeredBy === 'open-registration' ||
      (client.registeredBy === 'document' && destination.origin !== new URL(client.id).origin),
  }
}
