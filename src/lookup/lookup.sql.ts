import { type IdPrefix, readIdTime } from '../core/crypto.ts'
import type { Db } from '../database/handle.ts'
import { type BindParameter, createBinder } from '../database/keyset.ts'
import { boundStatement, statement, typed } from '../database/statement.ts'
import { EVENT_COLUMNS, EVENT_RETURNS, type EventRow, VISIBLE_CONDITION } from '../events/log.sql.ts'
import { type LookupKind, type LookupMember, MAX_MATCHES } from './lookup.fields.ts'

/** The members of a found object. */
export type LookupRow = {
  kind: LookupKind
  id: string
  matchedBy: LookupMember
  name: string | null
  userId: string | null
}

/** How the objects of a kind are read: the table, and SQL of the columns. */
type Source = { table: string; name?: string; userId?: string; isShown?: string; id?: string }

const SOURCES = {
  user: { table: 'User', name: 'COALESCE(o."name", o."email", o."phoneNumber")' },
  session: {
    table: 'Session',
    userId: 'o."userId"',
    isShown: 'o."endedAt" IS NULL AND o."expiresAt" > now()',
  },
  credential: { table: 'Credential', userId: 'o."userId"' },
  'idp-user': { table: 'IdpUser', userId: 'o."userId"' },
  'identity-provider': { table: 'IdentityProvider', name: 'o."name"' },
  client: { table: 'Client', name: 'o."name"' },
  'registration-token': { table: 'RegistrationToken', name: 'o."note"' },
  invitation: { table: 'Invitation', name: 'COALESCE(o."name", o."email")', userId: 'o."userId"' },
  'api-key': { table: 'ApiKey', name: 'o."name"', userId: 'o."userId"' },
  organization: { table: 'Organization', name: 'o."name"' },
  membership: { table: 'Membership', userId: 'o."userId"' },
  'organization-domain': { table: 'OrganizationDomain', name: 'o."domain"' },
  api: { table: 'Api', name: 'o."name"' },
  'app-role': { table: 'AppRole', name: 'o."name"' },
  group: { table: 'Group', name: 'o."name"' },
  webhook: { table: 'Webhook', name: 'o."url"' },
  'webhook-delivery': { table: 'WebhookDelivery', name: 'o."type"' },
  'signal-stream': { table: 'SignalStream', name: 'COALESCE(o."description", o."url")' },
  'bulk-job': { table: 'BulkJob', name: 'o."action"' },
  'trusted-document': { table: 'TrustedDocument', name: 'o."operationName"' },
  'signing-key': { table: 'SigningKey' },
} satisfies Partial<Record<LookupKind, Source>>
type StoredKind = keyof typeof SOURCES

/** The kinds of ids. Grants and events are found in the log. */
export const KINDS_BY_PREFIX: Partial<Record<IdPrefix, StoredKind>> = {
  user: 'user',
  session: 'session',
  cred: 'credential',
  idpuser: 'idp-user',
  client: 'client',
  regtoken: 'registration-token',
  invitation: 'invitation',
  apikey: 'api-key',
  organization: 'organization',
  membership: 'membership',
  orgdomain: 'organization-domain',
  api: 'api',
  role: 'app-role',
  group: 'group',
  webhook: 'webhook',
  delivery: 'webhook-delivery',
  stream: 'signal-stream',
  bulkjob: 'bulk-job',
  trusteddoc: 'trusted-document',
}

/** A condition by which objects are found. */
export type Search =
  | { kind: StoredKind; by: 'id' | 'externalId'; value: string }
  | { kind: 'user'; by: 'email' | 'phoneNumber'; value: string }
  | { kind: 'invitation'; by: 'email'; value: string }
  | { kind: 'organization'; by: 'slug'; value: string }
  | { kind: 'organization-domain'; by: 'domain'; value: string }
  | { kind: 'api'; by: 'identifier'; value: string }
  | { kind: 'app-role' | 'group'; by: 'name'; value: string }
  | { kind: 'webhook'; by: 'url'; value: string }
  | { kind: 'session'; by: 'lastSeenIp'; value: string }
  | { kind: 'client'; by: 'uri'; value: string; origin: string | null }
  | { kind: 'tenant'; by: 'id'; value: string }

const COLUMNS: Partial<Record<Search['by'], string>> = {
  email: 'emailKey',
  phoneNumber: 'phoneNumberKey',
}

/** What holds of the rows whose member is unique in the tenant. */
const UNIQUE: Partial<Record<Search['by'], string>> = {
  name: ' AND o."organizationId" IS NULL',
  domain: ' AND o."verifiedAt" IS NOT NULL',
}

/** How a URL matches a client, the best way first; null if it does not. A URL is in an origin if a path, a query or nothing follows. */
function buildUrlMatch(bind: BindParameter, url: string, origin: string | null): string {
  const exact = bind(url)
  const start = bind(origin)
  const urls = 'o."callbacks" || o."clientUri"'
  // Most clients have no text of the origin, so that their URLs are not compared.
  return `CASE WHEN o."id" = ${exact} THEN 'id' WHEN ${exact} = ANY(o."callbacks") THEN 'callbacks' WHEN o."clientUri" = ${exact} THEN 'clientUri'
    WHEN strpos(array_to_string(${urls}, ' '), ${start}) > 0 AND EXISTS (
      SELECT FROM unnest(${urls}) AS known("url")
      WHERE starts_with(known."url", ${start}) AND substr(known."url", length(${start}) + 1, 1) IN ('', '/', '?', '#')
    ) THEN 'origin' END`
}

function buildSearchSql(search: Search, bind: BindParameter): string {
  if (search.kind === 'tenant')
    return `SELECT 'tenant' AS "kind", o."tenantId" AS "id", 'id' AS "matchedBy", o."friendlyName" AS "name", NULL AS "userId"
      FROM "Tenant" o WHERE o."tenantId" = ${bind(search.value)} AND (o."tenantId" = $1 OR $1 = 'system')`
  const { table, name = 'NULL', userId = 'NULL', isShown = 'true' }: Source = SOURCES[search.kind]
  const build = (matchedBy: string, condition: string, order: string) =>
    `(SELECT '${search.kind}' AS "kind", o."id", ${matchedBy} AS "matchedBy", ${name} AS "name", ${userId} AS "userId"
      FROM "${table}" o WHERE o."tenantId" = $1 AND ${condition} AND ${isShown} ORDER BY ${order} LIMIT ${MAX_MATCHES})`
  if (search.by === 'uri') {
    const match = buildUrlMatch(bind, search.value, search.origin)
    return build(
      match,
      `${match} IS NOT NULL`,
      `array_position(ARRAY['id', 'callbacks', 'clientUri'], ${match}), o."id"`,
    )
  }
  return build(
    `'${search.by}'`,
    `o."${COLUMNS[search.by] ?? search.by}" = ${bind(search.value)}${UNIQUE[search.by] ?? ''}`,
    'o."id" DESC',
  )
}

export function matchesStatement(tenant: string, searches: readonly Search[]) {
  const bind = createBinder(tenant)
  const text = `SELECT * FROM (${searches.map((search) => buildSearchSql(search, bind)).join(' UNION ALL ')}) matches LIMIT ${MAX_MATCHES}`
  const returns = {
    kind: typed<LookupKind>('text'),
    id: 'text',
    matchedBy: typed<LookupMember>('text'),
    name: 'text?',
    userId: 'text?',
  } as const
  return boundStatement(returns, text, bind.values)
}

/** Returns the objects that match one of `searches`, in their order. One statement. */
export const selectMatches = (db: Db, searches: readonly Search[]): Promise<LookupRow[]> =>
  db.list(matchesStatement(db.tenant, searches))

/** An id is made in the transaction that records the event, and clocks differ by less than a minute. */
const SELECT_EVENT = statement({ takes: { id: 'text', madeAt: 'timestamptz' }, returns: EVENT_RETURNS })`
  SELECT ${EVENT_COLUMNS} FROM "Event" e
  WHERE e."tenantId" = :tenant AND e."occurredAt" BETWEEN :madeAt - interval '60 seconds' AND :madeAt + interval '60 seconds' AND e."id" = :id
    AND ${VISIBLE_CONDITION}
  LIMIT 1`

/** Returns an event by its id. */
export const selectEvent = (db: Db, id: string): Promise<EventRow | null> =>
  db.one(SELECT_EVENT, { id, madeAt: readIdTime(id) })
