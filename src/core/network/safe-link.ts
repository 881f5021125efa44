const LINK_PROTOCOLS = new Set(['https:', 'http:'])

/** The URL if it is http or https; null otherwise. */
export const toSafeLink = (url: string | null | undefined): string | null =>
  url && URL.canParse(url) && LINK_PROTOCOLS.has(new URL(url).protocol) ? url : null
