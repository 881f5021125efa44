import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../core/json/json-object.ts'
import {
  type Attribute,
  ENTERPRISE_ATTRIBUTES,
  ENTERPRISE_SCHEMA,
  findAttribute,
  isIgnored,
  isServiceAttribute,
  type Json,
  readValue,
  requireFewValues,
  USER_ATTRIBUTES,
} from './attributes.ts'
import { type Filter, getMember, matches, parseFilter, toRequiredMembers } from './filter.ts'
import { ScimError } from './scim-errors.ts'

const MAX_OPERATIONS = 100

export type PatchOperation = { op: 'add' | 'replace' | 'remove'; path: string | undefined; value: unknown }

/**
 * Reads the operations of a PATCH (RFC 7644, section 3.5.2), also with capitals, as Entra ID sends them. `spread` divides one
 * without a path. Throws ScimError.
 */
export function readOperations(
  body: unknown,
  spread: (operation: PatchOperation) => PatchOperation[],
): PatchOperation[] {
  const operations = isJsonObject(body) ? getMember(body, 'Operations') : undefined
  if (!Array.isArray(operations) || operations.length === 0)
    throw new ScimError('invalidSyntax', 'Operations must be a list of operations.')
  requireFew(operations)
  const read = operations.flatMap((operation): PatchOperation[] => {
    if (!isJsonObject(operation)) throw new ScimError('invalidSyntax', 'An operation must be an object.')
    const op = String(getMember(operation, 'op')).toLowerCase()
    const path = getMember(operation, 'path')
    const value = getMember(operation, 'value')
    if (op !== 'add' && op !== 'replace' && op !== 'remove')
      throw new ScimError('invalidSyntax', 'op must be add, replace or remove.')
    if (path !== undefined && path !== null && typeof path !== 'string')
      throw new ScimError('invalidPath', 'path must be a string.')
    if (op === 'remove' && !path) throw new ScimError('noTarget', 'A removal must have a path.')
    if (op !== 'remove' && !path && !isJsonObject(value))
      throw new ScimError('invalidValue', 'The value of an operation without a path must be an object.')
    return path ? [{ op, path, value }] : spread({ op, path: undefined, value })
  })
  requireFew(read)
  return read
}

function requireFew(operations: readonly unknown[]): void {
  if (operations.length > MAX_OPERATIONS)
    throw new ScimError('tooMany', `A PATCH has at most ${MAX_OPERATIONS} operations.`)
}

const PATH = /^([^[\]]*?)(?:\[(.*)\](?:\.([\w$]+))?)?$/s

/** A path in three parts, such as `emails`, `type eq "work"` and `value`. Throws ScimError invalidPath. */
export function splitPath(path: string): { name: string; filter: Filter | null; sub: string | null } {
  const [, name = '', filter, sub = null] = PATH.exec(path.trim()) ?? []
  if (name === '') throw new ScimError('invalidPath', `${path.slice(0, 100)} is not a path.`)
  return { name, filter: filter === undefined ? null : parseFilter(filter), sub }
}

type Target = { container: Json; attribute: Attribute; filter: Filter | null; sub: Attribute | null }

const CORE_SCHEMA = /^urn:ietf:params:scim:schemas:core:2\.0:User:/i
const startsWithSchema = (path: string): boolean =>
  path.toLowerCase().startsWith(ENTERPRISE_SCHEMA.toLowerCase())

/** What a path of a user names; null for attributes that are not stored. Throws ScimError invalidPath and mutability. */
function findTarget(user: Json, given: string): Target | null {
  const isExtension = startsWithSchema(given)
  const path = isExtension ? given.slice(ENTERPRISE_SCHEMA.length + 1) : given.replace(CORE_SCHEMA, '')
  // Other extensions.
  if (/^urn:/i.test(path)) return null
  const { name: full, filter, sub: afterFilter } = splitPath(path)
  const [name = '', ofName, ...rest] = full.split('.')
  if (isIgnored(name)) return null
  if (isServiceAttribute(name)) throw new ScimError('mutability', `${name} is read-only.`)
  const attribute = findAttribute(isExtension ? ENTERPRISE_ATTRIBUTES : USER_ATTRIBUTES, name)
  const subName = afterFilter ?? ofName
  const sub =
    attribute && subName !== undefined ? findAttribute(attribute.subAttributes ?? [], subName) : null
  if (!attribute || sub === undefined || rest.length > 0 || (filter && !attribute.multiValued))
    throw new ScimError('invalidPath', `${given.slice(0, 100)} is not an attribute.`)
  if (attribute.isReadOnly) throw new ScimError('mutability', `${name} is read-only.`)
  if (isExtension) user[ENTERPRISE_SCHEMA] ??= {}
  return { container: isExtension ? (user[ENTERPRISE_SCHEMA] as Json) : user, attribute, filter, sub }
}

const setMember = (object: Json, name: string, value: unknown): void => {
  if (value === undefined) delete object[name]
  else object[name] = value
}

/** Adds values to a list: one of the same type, or a new primary one, takes the place of the former. */
function addValues(present: Json[], added: Json[]): Json[] {
  return added.reduce((values, value) => {
    if (values.some((known) => isDeepStrictEqual(known, value))) return values
    const others = value.primary ? values.map(({ primary: _, ...rest }) => rest) : values
    return [...others, value]
  }, present)
}

/** The values of a list after an operation. */
function patchValues({ container, attribute, filter, sub }: Target, { op, value }: PatchOperation): Json[] {
  const present = (container[attribute.name] as Json[] | undefined) ?? []
  const read = () => (readValue(attribute, value) as Json[] | undefined) ?? []
  const isSelected = (element: Json) => filter === null || matches(filter, element)
  if (sub === null && filter === null) {
    if (op === 'add') return addValues(present, read())
    if (op === 'replace' || value === undefined || value === null) return op === 'replace' ? read() : []
    const removed = read().map((one) => one.value)
    return present.filter((one) => !removed.includes(one.value))
  }
  if (op === 'remove' && sub === null) return present.filter((element) => !isSelected(element))
  // Entra ID names values that do not exist yet.
  const isNew = op !== 'remove' && !present.some(isSelected)
  const members = filter ? toRequiredMembers(filter) : { type: 'work' }
  const made = isNew ? ((readValue(attribute, [members]) as Json[] | undefined) ?? []) : []
  return [...present, ...made].map((element) => {
    if (!isSelected(element)) return element
    if (sub === null) return { ...element, ...read()[0] }
    const changed = { ...element }
    setMember(changed, sub.name, op === 'remove' ? undefined : readValue(sub, value))
    return changed
  })
}

/** The value of an attribute with one value after an operation. */
function patchValue({ container, attribute, sub }: Target, { op, value }: PatchOperation): unknown {
  const given = op === 'remove' ? undefined : readValue(sub ?? attribute, value)
  if (attribute.type !== 'complex') return given
  const present = (container[attribute.name] as Json | undefined) ?? {}
  const whole = op === 'remove' ? {} : { ...present, ...(given as Json | undefined) }
  const changed: Json = sub ? { ...present, [sub.name]: given } : whole
  const kept = Object.entries(changed).filter(([, one]) => one !== undefined)
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

function patchTarget(target: Target, operation: PatchOperation): void {
  const { container, attribute } = target
  const values = attribute.multiValued ? patchValues(target, operation) : null
  if (values) requireFewValues(attribute.name, values)
  const value = values ? (values.length > 0 ? values : undefined) : patchValue(target, operation)
  setMember(container, attribute.name, value)
}

/** The operations of one without a path: each member of its value names an attribute, or a path, as Entra ID sends it. */
const spread = ({ op, value }: PatchOperation): PatchOperation[] =>
  Object.entries(value as Json).flatMap(([path, member]): PatchOperation[] => {
    if (path.toLowerCase() === ENTERPRISE_SCHEMA.toLowerCase() && isJsonObject(member))
      return Object.entries(member).map(([name, one]) => ({
        op,
        path: `${ENTERPRISE_SCHEMA}:${name}`,
        value: one,
      }))
    const attribute = findAttribute(USER_ATTRIBUTES, path.replace(CORE_SCHEMA, '').split(/[.[]/)[0] ?? '')
    const isWritable = startsWithSchema(path) || (attribute && !attribute.isReadOnly)
    return isWritable ? [{ op, path, value: member }] : []
  })

/** Applies a PATCH to a user in memory, all of it or nothing. Throws ScimError. */
export function patchUser(user: Json, body: unknown): Json {
  const patched = structuredClone(user)
  for (const operation of readOperations(body, spread)) {
    const target = findTarget(patched, operation.path ?? '')
    if (target) patchTarget(target, operation)
  }
  const extension = patched[ENTERPRISE_SCHEMA]
  if (isJsonObject(extension) && Object.keys(extension).length === 0) delete patched[ENTERPRISE_SCHEMA]
  return patched
}
