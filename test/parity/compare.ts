import {
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { sql } from '../../src/db.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { buildSchema } from '../../src/graphql/schema.ts'

const schema = buildSchema()
/** Objects that are part of another one's own fields, as REST has them. */
const EMBEDDED = ['Address', 'Device', 'TenantSettings', 'ConsentedScope', 'ConsentedClaim']

/** Every field of a type that is a value of its own: what REST answers of it, and more. */
export function allFieldsOf(typeName: string): string {
  const type = schema.getType(typeName) as GraphQLObjectType
  return Object.values(type.getFields())
    .filter(({ args }) => args.length === 0)
    .flatMap(({ name, type: of }) => {
      const named = getNamedType(of)
      if (isLeafType(named)) return [name]
      return EMBEDDED.includes(named.name) ? [`${name} { ${allFieldsOf(named.name)} }`] : []
    })
    .join(' ')
}

const unwrap = (type: GraphQLOutputType): GraphQLOutputType => (isNonNullType(type) ? type.ofType : type)

/** A value of GraphQL as REST writes it: values of enums in the words of the specification. */
export function asRest(typeName: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  const { ...fields } = (schema.getType(typeName) as GraphQLObjectType).getFields()
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const type = unwrap(fields[name]?.type as GraphQLOutputType)
      const named = getNamedType(type)
      const toRest = (one: unknown) =>
        isEnumType(named)
          ? (named.getValue(String(one))?.value ?? one)
          : isObjectType(named)
            ? asRest(named.name, one)
            : one
      return [name, isListType(type) && Array.isArray(member) ? member.map(toRest) : toRest(member)]
    }),
  )
}

const TYPE_ID = /\b(user|session|cred|client|idpuser|grant|event|regtoken)_[0-9a-z]{26}\b/g
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g
/** Random or of the request: no two calls agree on them. */
const OWN_VALUES =
  /^(requestId|ip|era|xid|seq|position|token|tokenHash|previousTokenHash|secretHash|sessionToken|secret|uri|deepLink|codeHash|publicJwk|privateKey|tokenKey|clientSecret|idTokenSigningKey|nonce|kid)$/

/** The same text for the same thing in whatever tenant: ids by the order in which they were made, times as times. */
export function neutral(tenant: string, value: unknown): unknown {
  const text = JSON.stringify(value, (key, member) => {
    if (OWN_VALUES.test(key) && member !== null && member !== undefined) return `<${key}>`
    // Keys of signatures, which are events' subjects, are named by their thumbprints.
    return key === 'subjectIds' && Array.isArray(member)
      ? member.map((id) => (/^[\w-]{43}$/.test(id) ? '<kid>' : id))
      : member
  })
  const ids = [...new Set(text.match(TYPE_ID) ?? [])].sort()
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  for (const id of ids) {
    const kind = id.split('_')[0] as string
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    names.set(id, `<${kind} ${counts.get(kind)}>`)
  }
  return JSON.parse(
    text
      .replace(TYPE_ID, (id) => names.get(id) ?? id)
      .replace(INSTANT, '<time>')
      .replaceAll(tenant, '<tenant>'),
  )
}

/** Everything that the database holds of a tenant. The signing keys and what calls leave besides are left out. */
const COMPARED = Object.keys(Prisma.ModelName).filter(
  (table) => !['SigningKey', 'IdempotencyKey', 'UserCount'].includes(table),
)

/** The state of a tenant, comparable with another's. */
export async function stateOf(tenant: string): Promise<unknown> {
  const tables: Record<string, unknown[]> = {}
  for (const table of COMPARED) {
    const rows = await sql<{ row: object }>(
      `SELECT to_jsonb(t) AS "row" FROM "${table}" t WHERE "tenantId" = $1`,
      [tenant],
    )
    tables[table] = rows.map(({ row }) => row)
  }
  // One naming of all ids, then the rows of each table in an order of their own.
  const named = neutral(tenant, tables) as Record<string, object[]>
  return Object.fromEntries(
    Object.entries(named).map(([table, rows]) => [table, rows.map((row) => JSON.stringify(row)).sort()]),
  )
}
