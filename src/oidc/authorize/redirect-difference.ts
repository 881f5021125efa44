import type { Why } from '../../errors.ts'

const PARTS = ['protocol', 'hostname', 'port', 'pathname', 'search', 'hash'] as const
const NAMES: Record<(typeof PARTS)[number], string> = {
  protocol: 'scheme',
  hostname: 'host',
  port: 'port',
  pathname: 'path',
  search: 'query',
  hash: 'fragment',
}

/** How many characters two texts have in common from the start. */
function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}

/** The registered address that the given one most likely means; null when none is registered. */
const nearestOf = (given: string, registered: readonly string[]): string | null =>
  registered.reduce<string | null>(
    (best, url) => (best === null || commonLength(given, url) > commonLength(given, best) ? url : best),
    null,
  )

/**
 * Where an address differs from the one that was expected, in words for who registers them: the part of the URL with both
 * values, or the first character where only the spelling differs, since they are compared byte for byte.
 */
export function differenceOf(given: string, expected: string): string {
  const at = commonLength(given, expected) + 1
  if (!URL.canParse(given)) return `it is no absolute URL; it differs from character ${at} on`
  if (URL.canParse(expected)) {
    const [a, b] = [new URL(given), new URL(expected)]
    const part = PARTS.find((name) => a[name] !== b[name])
    if (part) return `${NAMES[part]}: expected "${b[part]}", got "${a[part]}"`
  }
  return `the same address in another spelling: it differs from character ${at} on`
}

/** Why an address is not one of those that a client registered as its `member`. */
export function whyNotRegistered(
  given: string,
  registered: readonly string[],
  member: 'callbacks' | 'allowedLogoutUrls',
): Why {
  const nearest = nearestOf(given, registered)
  if (nearest === null) return { reason: `the client has no ${member}`, given }
  return { given, expected: nearest, registered: registered.length, difference: differenceOf(given, nearest) }
}
