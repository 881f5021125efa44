import { type GraphQLObjectType, getNamedType, isLeafType } from 'graphql'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { sql } from '../support/database.ts'
import { schema } from '../support/schema.ts'

/** Types that REST embeds in another object. */
const EMBEDDED = [
  'Address',
  'ClaimMapping',
  'ApiPermission',
  'ApiTranslation',
  'AppRolePermission',
  'ClientTranslation',
  'CopiedClaims',
  'Device',
  'TenantSettings',
  'SignUpField',
  'SignUpFieldSchema',
  'TextOverride',
  'SessionProof',
  'PermissionTranslation',
  'ConsentedScope',
  'ConsentedClaim',
]

/** The fields of a type that are values or embedded objects: at least those that REST answers. */
export function listFields(typeName: string): string {
  const type = schema.getType(typeName) as GraphQLObjectType
  return Object.values(type.getFields())
    .filter(({ args }) => args.length === 0)
    .flatMap(({ name, type: of }) => {
      const named = getNamedType(of)
      if (isLeafType(named)) return [name]
      return EMBEDDED.includes(named.name) ? [`${name} { ${listFields(named.name)} }`] : []
    })
    .join(' ')
}

const TYPE_ID =
  /\b(user|session|cred|client|idpuser|grant|event|regtoken|invitation|organization|membership|orgdomain|bulkjob|trusteddoc|api|role|mgmtrole|apikey|group|webhook|delivery|stream|signal)_[0-9a-z]{26}\b/g
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g
/** Members that differ in every call: they are random or belong to the request. */
const OWN_VALUES =
  /^(requestId|ip|era|xid|seq|position|token|tokenHash|cancelHash|previousTokenHash|secretHash|signalsSecretHash|iat|exp|auth_time|jti|sessionToken|secret|uri|deepLink|codeHash|addressHash|publicJwk|privateKey|tokenKey|clientSecret|idTokenSigningKey|nonce|kid|start|key|recordValue|body|messageId|number|headers)$/

/**
 * Replaces what differs between tenants: ids by their order of creation, times and random values by
 * placeholders.
 */
export function neutralize(tenant: string, value: unknown): unknown {
  const text = JSON.stringify(value, (key, member) => {
    if (OWN_VALUES.test(key) && member !== null && member !== undefined) return `<${key}>`
    // The kid of a signing key, a subject of events, is its thumbprint.
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

/** The tables that are compared: all except signing keys, idempotency keys, counts, and changes of the others. */
const COMPARED = Object.keys(Prisma.ModelName).filter(
  (table) =>
    ![
      'SigningKey',
      'IdempotencyKey',
      'UserCount',
      'UserRange',
      'EventMark',
      'DailyCount',
      'UncountedEvent',
      'RowChange',
    ].includes(table),
)

/** The rows of a tenant in each table, read by one statement. */
const SELECT_ROWS = COMPARED.map(
  (table) => `SELECT '${table}' AS "table", to_jsonb(t) AS "row" FROM "${table}" t WHERE "tenantId" = $1`,
).join(' UNION ALL ')

/** The rows of a tenant by table, comparable with those of another tenant. */
export async function readState(tenant: string): Promise<unknown> {
  const tables: Record<string, unknown[]> = Object.fromEntries(COMPARED.map((table) => [table, []]))
  for (const { table, row } of await sql<{ table: string; row: object }>(SELECT_ROWS, [tenant]))
    tables[table]?.push(row)
  // Ids are replaced in all tables at once, before the rows of each table are sorted.
  const named = neutralize(tenant, tables) as Record<string, object[]>
  return Object.fromEntries(
    Object.entries(named).map(([table, rows]) => [table, rows.map((row) => JSON.stringify(row)).sort()]),
  )
}
