import { PayloadTooLarge } from '../core/errors.ts'

/**
 * Appends parameters to the query of `uri`, which stays unchanged (RFC 6749, section 4.1.2). Null values are
 * omitted.
 */
export function addQueryParameters(uri: string, parameters: Record<string, string | null>): string {
  const present = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null)
  if (present.length === 0) return toHeaderValue(uri)
  const separator = uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?'
  return toHeaderValue(`${uri}${separator}${new URLSearchParams(present)}`)
}

/** Percent-encodes characters that a header cannot have; registered URIs and paths of a request may have them. */
const toHeaderValue = (uri: string): string =>
  uri.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent)

/** An authorization response has a state of 16 KB at most. Node and nginx read no longer request line by default. */
const MAX_LOCATION_CHARACTERS = 20_000

/** A URI as the value of Location or of the header Refresh. Throws PayloadTooLarge for one that browsers could not open. */
export function toLocation(uri: string): string {
  const location = toHeaderValue(uri)
  if (location.length > MAX_LOCATION_CHARACTERS) throw new PayloadTooLarge(MAX_LOCATION_CHARACTERS)
  return location
}

/**
 * Replaces characters that an error_description cannot have (RFC 6749, section 5.2), such as those of names
 * in a request.
 */
export const toErrorDescription = (text: string): string =>
  text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?')
