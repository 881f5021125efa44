import { type Item, isInnerList, parseItem, parseList } from 'structured-headers'

/**
 * The String in a structured header (RFC 9651, section 3.3.3), or null for other values and any
 * parameters.
 */
export function parseHeaderString(value: string): string | null {
  try {
    const [item, parameters] = parseItem(value)
    return typeof item === 'string' && parameters.size === 0 ? item : null
  } catch {
    return null
  }
}

/** The items of a structured header that is a List, without its inner lists; none where it is malformed. */
export function parseHeaderList(value: string): Item[] {
  try {
    return parseList(value).filter((member): member is Item => !isInnerList(member))
  } catch {
    return []
  }
}
