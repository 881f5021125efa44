import { prefixOf } from '../crypto.ts'

const CLIENT_ID = /^[\x21-\x7e]{1,200}$/
/** Whether a client may have this id at all: the operator's own has one of the operator's choice, so not only ours are admitted. */
export const isClientId = (text: string): boolean => CLIENT_ID.test(text)

/** Whether an id is the URL of a client's metadata document, as far as its looks say. */
export const isUrlId = (text: string): boolean => /^https?:\/\//.test(text) && isClientId(text)

/** Whether callers may name a client by `id`: it is one of ours, or the URL of a document. */
export const isNameOfClient = (id: string): boolean => prefixOf(id) === 'client' || isUrlId(id)

const PATH_PREFIX = 'url_'
/** How a REST path names a client: by its id, and where that is a URL, in base64url, since paths hold no encoded letters. */
export const toPathId = (clientId: string): string =>
  isUrlId(clientId) ? PATH_PREFIX + Buffer.from(clientId).toString('base64url') : clientId

/** The id of a client that a REST path names, as `toPathId` does; another spelling of it names nobody. */
export function fromPathId(segment: string): string {
  if (!segment.startsWith(PATH_PREFIX)) return segment
  const clientId = Buffer.from(segment.slice(PATH_PREFIX.length), 'base64url').toString()
  return toPathId(clientId) === segment ? clientId : segment
}
