import { createClient } from '../../src/clients/clients.ts'
import type { Ctx } from '../../src/context/context.ts'
import type { NewEvent } from '../../src/events/create-event.ts'
import { type LogEvent, recordEvents } from '../../src/events/log.ts'
import type { EventType } from '../../src/events/types.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { createUser, lockUser, updateUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from './actors.ts'
import { sql } from './database.ts'
import { logOf } from './events.ts'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'
import { walk } from './lists.ts'

export const DAY_MS = 86_400_000
/** The request in which the administrator acts. */
export const ADMIN_REQUEST_ID = 'request-of-grace'
/** Noon so many days before all other events, plus seconds. */
export const past = (days: number, seconds = 0): Date =>
  new Date(Date.UTC(2026, 5, 30, 12) - days * DAY_MS + seconds * 1000)

const EVENT = `__typename id position type: typeName occurredAt requestId deviceId actor { userId clientId apiKeyId tenantId ip }
  ... on AuditEvent { subjectIds changedFields detail }`
export const LIST = `query ($first: Int, $after: String, $last: Int, $before: String, $filter: EventFilter, $direction: OrderDirection) {
  events(first: $first, after: $after, last: $last, before: $before, filter: $filter, direction: $direction) {
    edges { cursor } nodes { ${EVENT} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

/** The name of a type in GraphQL: `session.started` is SESSION_STARTED. */
const toEnumName = (type: string): string => type.replace('.', '_').toUpperCase()

/** Variables of LIST, of a filter as REST takes it. */
export const toGraphqlVariables = ({ filter, ...others }: Json): object => ({
  ...others,
  filter: filter?.types ? { ...filter, types: filter.types.map(toEnumName) } : filter,
})

export const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)

/** The subjects of the tenant's events. */
export type World = {
  userId: string
  adminId: string
  sessionId: string
  clientId: string
  machineId: string
}

async function recordAt(ctx: Ctx, at: Date, type: EventType, subjectIds: string[]): Promise<void> {
  await ctx.db.transaction((tx) => recordEvents(tx, ctx, [{ type, subjectIds } as NewEvent]))
  await sql(
    `UPDATE "Event" SET "occurredAt" = $2::timestamptz WHERE "tenantId" = $1 AND "subjectIds" = $3::text[]`,
    [ctx.tenant, at, subjectIds],
  )
}

/** Records events of several days, and those of an administrator's changes of a user. */
async function fillLog(ctx: Ctx): Promise<World> {
  const { tenant } = ctx
  const machineId = (ctx.actor as { clientId: string }).clientId
  await sql(`UPDATE "Event" SET "occurredAt" = $2::timestamptz WHERE "tenantId" = $1`, [tenant, past(9)])
  // Older events come first in the log, too; within a minute, the order may be another.
  await recordAt(ctx, past(3), 'key.rotated', ['key-3'])
  await recordAt(ctx, past(2), 'key.rotated', ['key-2'])
  await recordAt(ctx, past(1, 30), 'key.rotated', ['key-1b'])
  await recordAt(ctx, past(1), 'key.rotated', ['key-1a'])
  await recordAt(ctx, past(1, 89), 'role.changed', ['role-1c'])
  const { id: adminId } = await createUser(ctx, { name: 'Grace', email: `grace@${tenant}.example` })
  const { client } = await createClient(ctx, { name: 'App', appType: 'web', type: 'login' })
  const byAdmin: Ctx = {
    ...ctx,
    actor: {
      kind: 'user',
      tenant,
      userId: adminId,
      clientId: client.id,
      sessionId: null,
      grantId: null,
    },
    ip: '203.0.113.9',
    requestId: ADMIN_REQUEST_ID,
  }
  const { id: userId } = await createUser(byAdmin, { name: 'Ada' })
  const { session } = await ctx.db.transaction((tx) =>
    startSession(tx, ctx, {
      userId,
      clientId: client.id,
      kind: 'api',
      expiresAt: new Date(Date.now() + DAY_MS),
      refreshable: true,
      proof: { method: 'passcode', amr: ['otp'] },
    }),
  )
  await updateUser(byAdmin, userId, { email: `ada@${tenant}.example`, nickname: 'Countess' })
  await lockUser(byAdmin, userId)
  return { userId, adminId, sessionId: session.id, clientId: client.id, machineId }
}

/** `test` with a tenant whose log has events of several days, and lists of them. */
export const test = base
  .extend('world', { scope: 'file' }, ({ ctx }) => fillLog(ctx))
  /** The whole log, as subscriptions read it. */
  .extend('log', { scope: 'file' }, ({ tenant, world: _ }): Promise<LogEvent[]> => logOf(tenant))
  .extend(
    'graphqlEvents',
    { scope: 'file' },
    ({ gql, log: _ }) =>
      async (variables: object = {}): Promise<Json> => {
        const { body } = await gql(LIST, toGraphqlVariables(variables))
        if (body.errors) throw new Error(JSON.stringify(body.errors))
        return body.data.events
      },
  )
  .extend(
    'restEvents',
    { scope: 'file' },
    ({ rest, log: _ }) =>
      async (query = ''): Promise<Json> =>
        (await rest('GET', `/events?pageSize=1000${query}`)).body.events,
  )
  /** The pages of the list over REST along its links. */
  .extend(
    'walkEvents',
    { scope: 'file' },
    ({ app, tenant, token, log: _ }) =>
      (query: string, rel: 'next' | 'prev' = 'next') =>
        walk(app, tenant, token, `/events?${query}`, 'events', rel),
  )
  /** Makes a tenant, and reads its whole log on both surfaces. */
  .extend('newLog', { scope: 'file' }, ({ rest, gql }) => async () => {
    const tenant = await newTenant()
    return {
      tenant,
      ctx: await ctxFor(tenant),
      read: async (filter: { actorId?: string } = {}) => {
        await logOf(tenant)
        const query = `query ($filter: EventFilter) {
          events(filter: $filter) { nodes { type: typeName actor { userId clientId apiKeyId tenantId ip } } } }`
        const byRest = await rest('GET', `/events?${new URLSearchParams(filter)}`, undefined, { tenant })
        const byGraphql = await gql(query, { filter }, { tenant })
        return [byRest.body.events, byGraphql.body.data.events.nodes] as Json[][]
      },
    }
  })
