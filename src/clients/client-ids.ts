import { prefixOf } from '../crypto.ts'

/** The operator's own client has an id of the operator's choice, so that not only ours are admitted. */
const CLIENT_ID = /^[\x21-\x7e]{1,200}$/
export const isClientId = (text: string): boolean => CLIENT_ID.test(text)

/** Whether an id is the URL of a client's metadata document, as far as its looks say. */
export const isUrlId = (text: string): boolean => /^https?:\/\//.test(text) && isClientId(text)

/** Whether callers may name a client by `id`: it is one of ours, or the URL of a document. */
export const isNameOfClient = (id: string): boolean => prefixOf(id) === 'client' || isUrlId(id)

/** How a REST path names a client whose id is a URL: paths hold no encoded letters, and have one spelling. */
const PATH_PREFIX = 'url_'
export const toPathId = (clientId: string): string =>
  isUrlId(clientId) ? PATH_PREFIX + Buffer.from(clientId).toString('base64url') : clientId

/** The id of a client that a REST path names, as `toPathId` does; another spelling of it names nobody. */
export function fromPathId(segment: string): string {
  if (!segment.startsWith(PATH_PREFIX)) return segment
  const clientId = Buffer.from(segment.slice(PATH_PREFIX.length), 'base64url').toString()
  return toPathId(clientId) === segment ? clientId : segment
}
