const MONTHS = 6

/**
 * The deprecation of a member, for `deprecationReason`: what replaces it, and from when on it may be removed. `since` is
 * the day of the release, as YYYY-MM-DD.
 */
export function deprecate(since: string, replacement: string): { deprecationReason: string } {
  const end = new Date(since)
  end.setUTCMonth(end.getUTCMonth() + MONTHS)
  return {
    deprecationReason: `Deprecated on ${since}, removed on ${end.toISOString().slice(0, 10)} at the earliest. ${replacement}`,
  }
}
