import { ID_PREFIXES } from '../core/crypto.ts'

/** Characters that need no encoding in a path. Ids that begin like a TypeID of Vestibule are reserved. */
const IDP_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/

const hasReservedPrefix = (id: string): boolean => ID_PREFIXES.some((prefix) => id.startsWith(`${prefix}_`))

/** The syntax of an id as a regular expression of the OpenAPI document. */
export const IDP_ID_PATTERN = `^(?!(?:${ID_PREFIXES.join('|')})_)${IDP_ID.source.slice(1)}`

/** Whether an identity provider may have this id, so that `node(id:)` stays unambiguous. */
export const isIdpId = (id: string): boolean => IDP_ID.test(id) && !hasReservedPrefix(id)
