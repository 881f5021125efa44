import { readIdPrefix } from '../core/crypto.ts'

const CLIENT_ID = /^[\x21-\x7e]{1,200}$/
/**
 * True for a well-formed client id. The id of the operator's client is chosen by the operator, so that any
 * format is permitted.
 */
export const isClientId = (text: string): boolean => CLIENT_ID.test(text)

/** True when an id has the form of the URL of a client metadata document. */
export const isUrlClientId = (text: string): boolean => /^https?:\/\//.test(text) && isClientId(text)

/** True when `id` has the form of a generated client id or of the URL of a client metadata document. */
export const isClientIdSyntax = (id: string): boolean => readIdPrefix(id) === 'client' || isUrlClientId(id)

const PATH_PREFIX = 'url_'
/**
 * Formats a client id for a REST path. A URL is encoded in base64url, since paths contain no
 * percent-encoding.
 */
export const toClientPathId = (clientId: string): string =>
  isUrlClientId(clientId) ? PATH_PREFIX + Buffer.from(clientId).toString('base64url') : clientId

/**
 * Parses what `toClientPathId` formats. A segment that is encoded differently is returned unchanged, and
 * names no client.
 */
export function parseClientPathId(segment: string): string {
  if (!segment.startsWith(PATH_PREFIX)) return segment
  const clientId = Buffer.from(segment.slice(PATH_PREFIX.length), 'base64url').toString()
  return toClientPathId(clientId) === segment ? clientId : segment
}
