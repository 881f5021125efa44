import type { Diagnostics } from '../../core/oauth-error.ts'
import { type RedirectingClient, toComparedUri } from './redirect-uris.ts'

const URL_PARTS = ['protocol', 'hostname', 'port', 'pathname', 'search', 'hash'] as const
const PART_NAMES: Record<(typeof URL_PARTS)[number], string> = {
  protocol: 'scheme',
  hostname: 'host',
  port: 'port',
  pathname: 'path',
  search: 'query',
  hash: 'fragment',
}

/** Length of the common prefix of two strings. */
function countCommonPrefix(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

/** The registered URI with the longest common prefix, as it is compared; null when none is registered. */
const findNearest = (
  given: string,
  registered: readonly string[],
  compare: (uri: string) => string,
): string | null =>
  registered.reduce<string | null>(
    (best, url) =>
      best === null || countCommonPrefix(given, compare(url)) > countCommonPrefix(given, compare(best))
        ? url
        : best,
    null,
  )

/**
 * Describes how a URI differs from the expected one: the first part of the URL that differs, with both
 * values, or else the position of the first differing character, since URIs are compared byte for byte.
 */
export function describeUriDifference(given: string, expected: string): string {
  const position = countCommonPrefix(given, expected) + 1
  if (!URL.canParse(given)) return `not an absolute URL, and different from character ${position} on`
  if (URL.canParse(expected)) {
    const [a, b] = [new URL(given), new URL(expected)]
    const part = URL_PARTS.find((name) => a[name] !== b[name])
    if (part) return `${PART_NAMES[part]}: expected "${b[part]}", got "${a[part]}"`
  }
  return `the same URL in another spelling, different from character ${position} on`
}

/** Diagnostics for a URI that is not among those that the client registered as `member`. */
export function diagnoseUnregisteredUri(
  client: RedirectingClient,
  given: string,
  registered: readonly string[],
  member: 'callbacks' | 'allowedLogoutUrls',
): Diagnostics {
  const compare = (uri: string) => toComparedUri(client, uri)
  const nearest = findNearest(compare(given), registered, compare)
  if (nearest === null) return { reason: `the client has no ${member}`, member, given }
  return {
    member,
    given,
    expected: nearest,
    registered: registered.length,
    difference: describeUriDifference(compare(given), compare(nearest)),
  }
}
