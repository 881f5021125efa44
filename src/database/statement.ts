import type { ReadLimit } from '../core/network/read-limit.ts'
import type { SqlValues } from './prepared-query.ts'
import type { RowStyle } from './rows/row-reader.ts'
import { declareSharedRead } from './shared-reads.ts'
import { declareStatementName } from './statement-names.ts'
import { assertTenantStatement } from './tenant-guard.ts'

/** PostgreSQL types of parameters and columns, with the values that the driver takes and returns. */
type Native = {
  text: string
  'text[]': string[]
  bytea: Buffer
  'bytea[]': Buffer[]
  int: number
  /** Decimal digits: a number would lose precision. */
  bigint: string
  float8: number
  boolean: boolean
  timestamptz: Date
  jsonb: object
}
/** The type of a parameter or a column; with a question mark, null is a value too. */
export type PgType = keyof Native | `${keyof Native}?`

declare const VALUE: unique symbol
export type Typed<Value> = string & { readonly [VALUE]: Value }
/**
 * A type that is narrower in TypeScript than in PostgreSQL, such as a union of strings or the shape of a JSON
 * document.
 */
export const typed = <Value>(type: PgType): Typed<Value> => type as string as Typed<Value>

/** Types by the name of the parameter or column. */
export type Shape = { readonly [name: string]: PgType | Typed<unknown> }
type ValueOf<T> =
  T extends Typed<infer Value>
    ? Value
    : T extends `${infer Base extends keyof Native}?`
      ? Native[Base] | null
      : T extends keyof Native
        ? Native[T]
        : never
type InputOf<Value> = Value extends (infer Item)[] ? readonly Item[] : Value

type Values<Takes extends Shape> = { readonly [Name in keyof Takes]: InputOf<ValueOf<Takes[Name]>> }
/** The values of a statement besides the tenant, if it takes any; rows beyond the limit are dropped. */
export type StatementArguments<Takes extends Shape> = keyof Takes extends never
  ? []
  : [values: Values<Takes>, limit?: ReadLimit]
export type Row<Returns extends Shape> = { -readonly [Name in keyof Returns]: ValueOf<Returns[Name]> }
type None = Record<never, never>

/** A statement with its values. */
export type BoundStatement<Returns extends Shape = Shape> = {
  text: string
  values: SqlValues
  /** The columns of a row, all of them. */
  returns: Returns
  style: RowStyle
  /** Whether its plan is that of a prepared statement, which does not depend on the values. */
  isPrepared: boolean
}

/** A statement with named parameters. `tenant` is always one of them. */
export type SqlStatement<Takes extends Shape = Shape, Returns extends Shape = Shape> = {
  /** The text that PostgreSQL prepares. `$1` is the tenant. */
  text: string
  /** The parameters in the order of their numbers, with their types. */
  parameters: readonly { name: string; type: string }[]
  takes: Takes
  returns: Returns
  /** The tables into which it inserts rows. */
  inserts: readonly string[]
  hasInserted?: ((rows: Row<Returns>[]) => boolean) | undefined
  bind(tenant: string, values: object | undefined): SqlValues
}
/** The type of a statement's values. */
export type ValuesOf<S extends { takes: Shape }> = Values<S['takes']>
/** The type of a statement's rows. */
export type RowOf<S extends { returns: Shape }> = Row<S['returns']>

/** `:name`, but neither the cast `::name` nor the slice `[1:n]`. */
const PLACEHOLDER = /(?<![:\w]):([a-z]\w*)/gi

/**
 * Replaces `:name` by `$n` with a cast to the declared type, the same number wherever a name occurs.
 * `:tenant` is `$1`. Throws for a name that is not declared, or is declared and not used, and for a `$n` in
 * the text.
 */
function numberParameters(named: string, takes: Shape) {
  if (/\$\d/.test(named)) throw new Error(`a parameter is numbered instead of named: ${named}`)
  const parameters = [{ name: 'tenant', type: 'text' }]
  const text = named.replace(PLACEHOLDER, (_, name: string) => {
    if (name === 'tenant') return '$1'
    if (!Object.hasOwn(takes, name)) throw new Error(`parameter :${name} is not declared: ${named}`)
    const type = String(takes[name]).replace('?', '')
    const known = parameters.findIndex((parameter) => parameter.name === name)
    return `$${known < 0 ? parameters.push({ name, type }) : known + 1}::${type}`
  })
  const unused = Object.keys(takes).filter((name) => !parameters.some((parameter) => parameter.name === name))
  if (unused.length > 0) throw new Error(`parameters ${unused} are declared and not used: ${named}`)
  return { text, parameters }
}

/**
 * Adds a prefix to the parameters of a part of a statement, so that two parts may use the same names. Names that are
 * not in `takes`, such as `:tenant`, are kept.
 */
export function prefixParameters<Prefix extends string, Takes extends Shape>(
  prefix: Prefix,
  takes: Takes,
  text: string,
) {
  const renamed = text.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(takes, name) ? `:${prefix}${name}` : whole,
  )
  return { takes: prefixNames(prefix, takes), text: renamed }
}

/** The values or types, each under its name with a prefix. */
export const prefixNames = <Prefix extends string, Named extends object>(
  prefix: Prefix,
  named: Named,
): { [Name in keyof Named & string as `${Prefix}${Name}`]: Named[Name] } =>
  Object.fromEntries(Object.entries(named).map(([name, value]) => [prefix + name, value])) as never

const listInsertedTables = (text: string): string[] => [
  ...new Set([...text.matchAll(/INSERT INTO "(\w+)"/g)].flatMap(([, table]) => table ?? [])),
]

const statements: SqlStatement[] = []
/** Every statement of the loaded modules. A contract test prepares them all. */
export const listStatements = (): readonly SqlStatement[] => statements

/**
 * Declares a statement once, when its module is loaded, so that the text is constant and its plan is reused.
 * `takes` has the types of the `:name`s besides `:tenant`; objects of a jsonb parameter are serialized.
 * `returns` has the columns of a row. An interpolated string is a part of the text, which may itself contain
 * `:name`s. A `shared` statement only reads a few rows by their keys, so that it may be sent together with those of
 * other requests. `hasInserted` is false for rows that say that nothing was inserted; without it, each success counts.
 *
 *     const SELECT_NAME = statement({ takes: { id: 'text' }, returns: { name: 'text?' } })`
 *       SELECT "name" FROM "User" WHERE "tenantId" = :tenant AND "id" = :id`
 *     const row = await db.one(SELECT_NAME, { id })
 * See docs/decisions/0043.
 */
export const statement =
  <const Takes extends Shape = None, const Returns extends Shape = None>(declared: {
    takes?: Takes
    returns?: Returns
    shared?: true
    hasInserted?: (rows: Row<Returns>[]) => boolean
  }) =>
  (strings: TemplateStringsArray, ...parts: (string | number)[]): SqlStatement<Takes, Returns> => {
    const { text, parameters } = numberParameters(
      String.raw({ raw: strings }, ...parts),
      declared.takes ?? {},
    )
    const [, ...others] = parameters
    assertTenantStatement(text)
    declareStatementName(text)
    if (declared.shared) declareSharedRead(text)
    const bind = (tenant: string, values: object = {}): SqlValues => {
      const bound: SqlValues = [tenant]
      for (const { name, type } of others) {
        const value = (values as Record<string, unknown>)[name] ?? null
        bound.push(type === 'jsonb' && value !== null ? JSON.stringify(value) : value)
      }
      return bound
    }
    const made: SqlStatement<Takes, Returns> = {
      text,
      parameters,
      takes: declared.takes ?? ({} as Takes),
      returns: declared.returns ?? ({} as Returns),
      inserts: listInsertedTables(text),
      hasInserted: declared.hasInserted,
      bind,
    }
    statements.push(made as unknown as SqlStatement)
    return made
  }

/**
 * Declares the columns of a statement whose text depends on the call, as a list's does; `values` are those of its
 * parameters. It is planned for its values each time, unless it `isPrepared`: tenants differ in size by orders of
 * magnitude, and the generic plan of a prepared statement would sort all rows of a large one.
 */
export const boundStatement = <const Returns extends Shape>(
  returns: Returns,
  text: string,
  values: SqlValues,
  { isPrepared = false, ...style }: RowStyle & { isPrepared?: boolean } = {},
): BoundStatement<Returns> => ({
  returns,
  text,
  values,
  style,
  isPrepared,
})
