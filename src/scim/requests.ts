import { readIdPrefix } from '../core/crypto.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import type { Json } from './attributes.ts'
import { type Filter, getMember, parseFilter } from './filter.ts'
import { DEFAULT_COUNT, MAX_COUNT } from './schemas.ts'
import { ScimError } from './scim-errors.ts'

const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i

/** Which attributes a response has (RFC 7644, section 3.9). Paths are in lower case. */
export type Selection = { attributes: string[] | null; excluded: string[] }

export type ScimQuery = Selection & {
  filter: Filter | null
  sortBy: string | null
  descending: boolean
  /** From 1 on. */
  startIndex: number
  count: number
  /** The id that a page by cursor follows: '' for the first page, null for a page by index. */
  after: string | null
}

/** Paths that a request names: each is compared with each attribute of each resource. */
const MAX_PATHS = 100

function readPaths(value: unknown): string[] {
  const paths = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(',') : []
  if (paths.length > MAX_PATHS)
    throw new ScimError('invalidValue', `A request names at most ${MAX_PATHS} attributes.`)
  return paths.map((path) => path.trim().replace(CORE, '').toLowerCase()).filter(Boolean)
}

function readInteger(value: unknown, name: string, standard: number): number {
  if (value === undefined || value === null || value === '') return standard
  const number = Number(value)
  if (!Number.isInteger(number)) throw new ScimError('invalidValue', `${name} must be an integer.`)
  return Math.min(number, 2 ** 31 - 1)
}

/** Reads a cursor (RFC 9865): that of a former page, or none. Throws ScimError invalidCursor. */
function readCursor(value: unknown, sortBy: unknown): string | null {
  if (value === undefined || value === null) return null
  const after = Buffer.from(String(value), 'base64url').toString()
  if (sortBy || toCursor(after) !== value || (after !== '' && readIdPrefix(after) === null))
    throw new ScimError('invalidCursor', 'cursor is that of a former page, which is not sorted.')
  return after
}
const toCursor = (id: string): string => Buffer.from(id).toString('base64url')

/** Reads the parameters of a list, of a query or of a search request. Throws ScimError. */
export function readScimQuery(given: Json): ScimQuery {
  const get = (name: string) => getMember(given, name)
  const [filter, sortBy, attributes] = [get('filter'), get('sortBy'), readPaths(get('attributes'))]
  return {
    filter: typeof filter === 'string' && filter !== '' ? parseFilter(filter) : null,
    sortBy: typeof sortBy === 'string' && sortBy !== '' ? sortBy.replace(CORE, '').toLowerCase() : null,
    descending: Boolean(sortBy) && String(get('sortOrder')).toLowerCase() === 'descending',
    startIndex: Math.max(1, readInteger(get('startIndex'), 'startIndex', 1)),
    count: Math.min(MAX_COUNT, Math.max(0, readInteger(get('count'), 'count', DEFAULT_COUNT))),
    after: readCursor(get('cursor'), sortBy),
    attributes: attributes.length > 0 ? attributes : null,
    excluded: readPaths(get('excludedAttributes')),
  }
}

const ALWAYS = new Set(['schemas', 'id'])

/** Whether a response has an attribute, whole or in part. */
export const isSelected = ({ attributes, excluded }: Selection, name: string): boolean =>
  ALWAYS.has(name) ||
  (!excluded.includes(name) && (attributes === null || attributes.some((path) => startsWith(path, name))))

/** Whether a path names an attribute or one of its sub-attributes: that of a schema after a colon. */
const startsWith = (path: string, name: string): boolean =>
  path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}:`)

function selectMembers(value: unknown, name: string, selection: Selection): unknown {
  if (Array.isArray(value)) return value.map((one) => selectMembers(one, name, selection))
  if (!isJsonObject(value)) return value
  const { attributes, excluded } = selection
  const isNamed = (paths: string[], sub: string) =>
    paths.includes(`${name}.${sub}`) || paths.includes(`${name}:${sub}`)
  const isWhole = attributes === null || attributes.includes(name)
  return Object.fromEntries(
    Object.entries(value).filter(([member]) => {
      const sub = member.toLowerCase()
      return !isNamed(excluded, sub) && (isWhole || isNamed(attributes, sub))
    }),
  )
}

/** The attributes of a resource that a request wants. */
export const selectAttributes = (resource: Json, selection: Selection): Json =>
  Object.fromEntries(
    Object.entries(resource)
      .filter(([name]) => isSelected(selection, name.toLowerCase()))
      .map(([name, value]) => [name, selectMembers(value, name.toLowerCase(), selection)]),
  )

/** A list (RFC 7644, section 3.4.2), by cursor with that of the next page (RFC 9865, section 2). */
export function toListResponse(
  resources: Json[],
  totalResults: number,
  { startIndex = 1, after = null, count = 0 }: Partial<ScimQuery> = {},
): Json {
  const isFull = count > 0 && resources.length === count
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults,
    ...(after === null ? { startIndex } : isFull && { nextCursor: toCursor(String(resources.at(-1)?.id)) }),
    itemsPerPage: resources.length,
    Resources: resources,
  }
}
