import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { addMember } from '../../src/organizations/memberships.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { revokeSession } from '../../src/sessions/revoke-sessions.ts'
import type { SessionFilterMember } from '../../src/sessions/session-list.fields.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { MINIMAL_CLIENT } from './clients.ts'
import { sql } from './database.ts'
import { test as base } from './fixtures.ts'
import { walk } from './lists.ts'

export type SessionRow = {
  id: string
  userId: string
  clientId: string | null
  lastSeenIp: string
  createdAt: Date
  lastSeenAt: Date
}
type NewRow = { userId: string; withClient: boolean; ip: string; created: number; seen: number }

const HOUR_MS = 3_600_000
const NOON = Date.UTC(2026, 10, 20, 12)
/** A time some hours from a fixed one. */
export const atHour = (hours: number) => new Date(NOON + hours * HOUR_MS)
export const toIds = (rows: { id: string }[]) => rows.map(({ id }) => id)

const LIST = `query ($page: Int, $pageSize: Int, $first: Int, $after: String, $last: Int, $before: String, $filter: SessionFilter, $orderBy: SessionOrder) {
  sessions(page: $page, pageSize: $pageSize, first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy) {
    nodes { id } totalSize page pageSize pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

export type Values = { ada: string; clientId: string; organizationId: string }
const VALUES: Record<SessionFilterMember, (by: Values) => unknown> = {
  userId: ({ ada }) => ada,
  clientId: ({ clientId }) => clientId,
  organizationId: ({ organizationId }) => organizationId,
  ip: () => '::FFFF:203.0.113.7',
  createdAt: () => ({ gte: atHour(-8).toISOString(), lt: atHour(-2).toISOString() }),
  lastSeenAt: () => ({ gte: atHour(1).toISOString() }),
}
/** `orderBy` over GraphQL, by its name over REST. */
export const ORDER_ENUM = { id: undefined, createdAt: 'CREATED_AT', lastSeenAt: 'LAST_SEEN_AT' } as const
export const filterBy = (members: readonly SessionFilterMember[], by: Values) =>
  Object.fromEntries(members.map((member) => [member, VALUES[member](by)]))
/** A filter as the query parameters of REST. */
export const toParameters = (filter: object) =>
  Object.entries(filter)
    .flatMap(([name, value]): [string, string][] =>
      typeof value === 'object' && value !== null
        ? Object.entries(value).map(([bound, at]) => [`${name}.${bound}`, String(at)])
        : [[name, String(value)]],
    )
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
    .join('')

/** `test` with 12 active sessions of two users, one ended and one expired session, and lists of them. */
export const test = base
  .extend('ada', { scope: 'file' }, async ({ ctx }) => (await createUser(ctx, { name: 'Ada' })).id)
  .extend('grace', { scope: 'file' }, async ({ ctx }) => (await createUser(ctx, { name: 'Grace' })).id)
  .extend(
    'clientId',
    { scope: 'file' },
    async ({ tenant }) => (await createClient(createPlatformCtx(tenant), MINIMAL_CLIENT)).client.id,
  )
  /** An organization that ada is a member of, and grace was. */
  .extend('organizationId', { scope: 'file' }, async ({ ctx, ada }) => {
    const { id } = await createOrganization(ctx, { slug: 'acme', name: 'Acme' })
    await addMember(ctx.db, ctx, { organizationId: id, userId: ada, joinedVia: 'administrator' })
    return id
  })
  /** The active sessions in the order of their ids. */
  .extend('active', { scope: 'file' }, async ({ tenant, ctx, ada, grace, clientId, organizationId }) => {
    const start = async ({ userId, withClient, ip, created, seen }: NewRow) => {
      const { session } = await ctx.db.transaction((tx) =>
        startSession(tx, ctx, {
          userId,
          clientId: withClient ? clientId : null,
          kind: 'api',
          expiresAt: new Date(Date.now() + 100 * HOUR_MS),
          refreshable: true,
          proof: { method: 'passcode', amr: ['otp'] },
          seenFrom: { ip, userAgent: null },
        }),
      )
      await sql(
        `UPDATE "Session" SET "createdAt" = $3::timestamptz, "lastSeenAt" = $4::timestamptz WHERE "tenantId" = $1 AND "id" = $2`,
        [tenant, session.id, atHour(created), atHour(seen)],
      )
      return session.id
    }
    // The times run against the ids and repeat, so that each order differs.
    for (let number = 0; number < 12; number += 1)
      await start({
        userId: number % 3 === 0 ? grace : ada,
        withClient: number % 4 === 0,
        ip: number % 5 === 0 ? '2001:db8::1' : '203.0.113.7',
        created: -number + (number % 2),
        seen: (number * 5) % 3,
      })
    await sql(
      `INSERT INTO "SessionOrganization" SELECT "tenantId", $2, "id" FROM "Session" WHERE "tenantId" = $1 AND "lastSeenIp" <> '2001:db8::1'`,
      [tenant, organizationId],
    )
    const active = await sql<SessionRow>(`SELECT * FROM "Session" WHERE "tenantId" = $1 ORDER BY "id"`, [
      tenant,
    ])
    const last = { userId: ada, withClient: true, ip: '203.0.113.7', created: 0, seen: 0 }
    await revokeSession(ctx, await start(last))
    await sql(
      `UPDATE "Session" SET "expiresAt" = now() - interval '1 second' WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, await start(last)],
    )
    return active
  })
  .extend(
    'listOverGraphql',
    { scope: 'file' },
    ({ gql }) =>
      async (variables: object = {}) =>
        (await gql(LIST, variables)).body,
  )
  .extend(
    'listOverRest',
    { scope: 'file' },
    ({ rest }) =>
      (query: string) =>
        rest('GET', `/sessions?${query}`),
  )
  /** The ids of the sessions on the pages that links of one relation lead to. */
  .extend(
    'walkIds',
    { scope: 'file' },
    ({ app, tenant, token }) =>
      async (path: string, rel: 'next' | 'prev' = 'next') => {
        const pages = await walk(app, tenant, token, path, 'sessions', rel)
        return toIds((rel === 'next' ? pages : pages.reverse()).flat())
      },
  )
