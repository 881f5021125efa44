import { isJsonObject } from '../core/json/json-object.ts'
import { ScimError } from './scim-errors.ts'

const MAX_LENGTH = 2000
const MAX_TERMS = 20
const MAX_DEPTH = 10

export const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Comparison = (typeof COMPARISONS)[number]
export type FilterValue = string | number | boolean | null

/** A condition on one attribute. `path` is in lower case, and without the schema of the core. */
export type FilterTerm = { op: 'pr'; path: string } | { op: Comparison; path: string; value: FilterValue }

/** A filter (RFC 7644, section 3.4.2.2). `members[value eq "x"]` is the term `members.value eq "x"`. */
export type Filter =
  | FilterTerm
  | { op: 'and'; parts: readonly [Filter, Filter] }
  | { op: 'or'; parts: readonly [Filter, Filter] }
  | { op: 'not'; part: Filter }

const TOKENS = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/y
const ATTRIBUTE = /^[a-z$][\w$:.-]*$/i
const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i

const reject = (detail: string): ScimError => new ScimError('invalidFilter', detail)

function tokenize(text: string): string[] {
  if (text.length > MAX_LENGTH) throw reject(`A filter has at most ${MAX_LENGTH} characters.`)
  const tokens: string[] = []
  const source = text.trimEnd()
  TOKENS.lastIndex = 0
  for (let at = 0; at < source.length; at = TOKENS.lastIndex) {
    const match = TOKENS.exec(source)
    if (!match) throw reject('The filter has a text without its end.')
    tokens.push(match[1] ?? match[2] ?? match[3] ?? '')
  }
  return tokens
}

const toPath = (token: string): string => token.replace(CORE, '').toLowerCase()

function toValue(token: string): FilterValue {
  try {
    const value: unknown = JSON.parse(/^(true|false|null)$/i.test(token) ? token.toLowerCase() : token)
    if (value === null || typeof value !== 'object') return value as FilterValue
  } catch {}
  throw reject(`${token.slice(0, 100)} is not a value: texts have quotation marks.`)
}

class Parser {
  readonly #tokens: string[]
  #at = 0
  #terms = 0
  #depth = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  parse(): Filter {
    const filter = this.#parseOr('')
    if (this.#at < this.#tokens.length) throw reject(`The filter does not end before ${this.#peek()}.`)
    return filter
  }

  #peek = (): string => (this.#tokens[this.#at] ?? '').slice(0, 100)

  #next(): string {
    const token = this.#tokens[this.#at++]
    if (token === undefined) throw reject('The filter ends too early.')
    return token
  }

  #accept(token: string): boolean {
    const isNext = this.#tokens[this.#at]?.toLowerCase() === token
    if (isNext) this.#at += 1
    return isNext
  }

  #parseOr(prefix: string): Filter {
    let left = this.#parseAnd(prefix)
    while (this.#accept('or')) left = { op: 'or', parts: [left, this.#parseAnd(prefix)] }
    return left
  }

  #parseAnd(prefix: string): Filter {
    let left = this.#parsePart(prefix)
    while (this.#accept('and')) left = { op: 'and', parts: [left, this.#parsePart(prefix)] }
    return left
  }

  #parseNested(prefix: string, end: string): Filter {
    if (++this.#depth > MAX_DEPTH) throw reject(`A filter is nested at most ${MAX_DEPTH} deep.`)
    const filter = this.#parseOr(prefix)
    if (!this.#accept(end)) throw reject(`The filter lacks a ${end}.`)
    this.#depth -= 1
    return filter
  }

  #parsePart(prefix: string): Filter {
    if (this.#accept('(')) return this.#parseNested(prefix, ')')
    const token = this.#next()
    if (token.toLowerCase() === 'not' && this.#accept('('))
      return { op: 'not', part: this.#parseNested(prefix, ')') }
    if (!ATTRIBUTE.test(token)) throw reject(`${token.slice(0, 100)} is not an attribute.`)
    const path = prefix + toPath(token)
    if (prefix !== '' || !this.#accept('[')) return this.#parseTerm(path)
    const selected = this.#parseNested(`${path}.`, ']')
    // Entra ID sends emails[type eq "work"].value eq "…".
    if (!/^\.[\w$]+$/.test(this.#peek())) return selected
    return { op: 'and', parts: [selected, this.#parseTerm(path + this.#next().toLowerCase())] }
  }

  #parseTerm(path: string): FilterTerm {
    if (++this.#terms > MAX_TERMS) throw reject(`A filter has at most ${MAX_TERMS} conditions.`)
    const op = this.#next().toLowerCase()
    if (op === 'pr') return { op, path }
    const comparison = COMPARISONS.find((known) => known === op)
    if (!comparison) throw reject(`${op.slice(0, 100)} is not an operator.`)
    return { op: comparison, path, value: toValue(this.#next()) }
  }
}

/** Parses a filter of bounded length, depth and number of conditions. Throws ScimError invalidFilter. */
export const parseFilter = (text: string): Filter => new Parser(text).parse()

/** The member with a name in any case. */
export const getMember = (object: Record<string, unknown>, name: string): unknown =>
  object[Object.keys(object).find((key) => key.toLowerCase() === name.toLowerCase()) ?? '']

function getAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (isJsonObject(at) ? getMember(at, name) : undefined), value)
}

function compare(op: Comparison, left: unknown, right: FilterValue): boolean {
  if (left === undefined || left === null) return op === 'eq' ? right === null : op === 'ne' && right !== null
  if (typeof left === 'boolean') {
    const isEqual = String(left) === String(right).toLowerCase()
    return op === 'eq' ? isEqual : op === 'ne' && !isEqual
  }
  const [a, b] = [String(left).toLowerCase(), String(right).toLowerCase()]
  switch (op) {
    case 'eq':
      return a === b
    case 'ne':
      return a !== b
    case 'co':
      return a.includes(b)
    case 'sw':
      return a.startsWith(b)
    case 'ew':
      return a.endsWith(b)
    case 'gt':
      return a > b
    case 'ge':
      return a >= b
    case 'lt':
      return a < b
    case 'le':
      return a <= b
  }
}

/** Whether an object, in memory, satisfies a filter. Texts are compared without their case. */
export function matches(
  filter: Filter,
  object: object,
  read: (path: string, term: FilterTerm) => unknown = (path) => getAt(object, path),
): boolean {
  if (filter.op === 'and') return filter.parts.every((part) => matches(part, object, read))
  if (filter.op === 'or') return filter.parts.some((part) => matches(part, object, read))
  if (filter.op === 'not') return !matches(filter.part, object, read)
  const value = read(filter.path, filter)
  if (filter.op === 'pr') return value !== undefined && value !== null && value !== ''
  return compare(filter.op, value, filter.value)
}

/** The conditions of a filter. */
export function listTerms(filter: Filter): FilterTerm[] {
  if (filter.op === 'and' || filter.op === 'or') return filter.parts.flatMap(listTerms)
  return filter.op === 'not' ? listTerms(filter.part) : [filter]
}

/** The values that an element must have to satisfy a filter, such as the type of `emails[type eq "work"]`. */
export function toRequiredMembers(filter: Filter): Record<string, FilterValue> {
  if (filter.op === 'and') return Object.assign({}, ...filter.parts.map(toRequiredMembers))
  return filter.op === 'eq' ? { [filter.path]: filter.value } : {}
}
