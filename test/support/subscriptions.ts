import { expect } from 'vitest'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { Handle } from '../../src/database/handle.ts'
import { announceInsertion } from '../../src/database/insertions.ts'
import { readEvents, readHead, recordEvents } from '../../src/events/log.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import type { GraphqlBody } from './app.ts'
import { test as base } from './graphql-test.ts'
import { type EventReader, openEventStream, openSocket } from './streams.ts'

export const SESSIONS = `subscription ($userId: ID, $kinds: [SessionEventType!], $after: String) {
  sessionChanged(userId: $userId, kinds: $kinds, after: $after) {
    __typename
    ... on SessionEvent { kind reason sessionId userId position session { id } user { id locked } }
    ... on EventGap { position }
  }
}`
export const LOCKS = `subscription ($userId: ID, $after: String) {
  userLockChanged(userId: $userId, after: $after) { ... on UserLockEvent { kind userId position user { locked } } }
}`
export const EVENTS = `subscription ($types: [EventType!], $subjectId: ID, $ip: String, $after: String) {
  events(types: $types, subjectId: $subjectId, ip: $ip, after: $after) { __typename id type: typeName position actor { clientId } ... on AuditEvent { subjectIds } }
}`
/** Variables of EVENTS for the events of `recordNumbers`. */
export const NUMBERS = { types: ['CONSENT_GRANTED'] }

export const numberOf = (body: GraphqlBody | null | undefined): number =>
  Number(body?.data.events.subjectIds[0])

/**
 * Waits until all events of a tenant are visible. Every older transaction of the database server hides newer
 * events, and a stream would deliver those that become visible after it was opened.
 */
export const awaitVisible = (tenant: string): Promise<void> =>
  expect
    .poll(async () => readEvents(new Handle({ tenant }), (await readHead(new Handle({ tenant }))).head, 1), {
      timeout: 10_000,
      interval: 5,
    })
    .toEqual({ events: [], hidden: false })

export type SubscribedUser = { userId: string; sessionId: string; token: string }
type FollowOptions = { token?: string; lastEventId?: string | null }
type SocketStream = {
  next: () => Promise<GraphqlBody | null>
  closed: Promise<{ code: number; reason: string }>
}

/** `test` with subscriptions at `server`; its streams close after each test. */
export const test = base
  /** Id of a client that users sign in at. */
  .extend('appId', { scope: 'file' }, async ({ newClient }) => {
    const { id } = await newClient({ scopes: ['sessions:read', 'users:read', 'account'] })
    return id
  })
  .extend('startApiSession', { scope: 'file' }, ({ tenant, ctx, appId }) => async (userId: string) => {
    const expiresAt = new Date(Date.now() + 3_600_000)
    const { session } = await ctx.db.transaction((sql) =>
      startSession(sql, ctx, {
        userId,
        kind: 'api',
        clientId: appId,
        expiresAt,
        refreshable: true,
        proof: { method: 'passcode', amr: ['otp'] },
      }),
    )
    announceInsertion('Event', tenant)
    return session.id
  })
  /** Makes a user with a session and an access token that depends on it, for an organization if one is given. */
  .extend(
    'newSubscriber',
    { scope: 'file' },
    ({ tenant, ctx, appId, startApiSession }) =>
      async (scopes: Scope[] = [], clientId = appId, organizationId?: string): Promise<SubscribedUser> => {
        const { id: userId } = await createUser(ctx, { name: 'Ada' })
        const sessionId = await startApiSession(userId)
        const token = await issueAccessToken(tenant, {
          subject: userId,
          clientId,
          scopes: ['openid', 'account', ...scopes],
          audience: [apiAudienceOf(tenant)],
          claims: organizationId ? { org_id: organizationId } : {},
          lifetimeSeconds: 600,
          sessionId,
        })
        return { userId, sessionId, token }
      },
  )
  /** Records an event for each number. */
  .extend('recordNumbers', { scope: 'file' }, ({ ctx }) => async (...numbers: number[]): Promise<void> => {
    for (const number of numbers)
      await ctx.db.transaction((tx) =>
        recordEvents(tx, ctx, [
          { type: 'consent.granted', subjectIds: [String(number)], detail: { scope: 'openid' } },
        ]),
      )
  })
  /** Reads the position of the newest event through the API. */
  .extend('headPosition', { scope: 'file' }, ({ server, tenant, token }) => async (): Promise<string> => {
    const query =
      'query ($after: String) { events(first: 1000, after: $after) { pageInfo { endCursor hasNextPage } } }'
    let after = ''
    for (;;) {
      const { body } = await server.post(tenant, token, query, { after: after || null })
      const { endCursor, hasNextPage } = body.data.events.pageInfo
      after = endCursor ?? after
      if (!hasNextPage) return after
    }
  })
  /** Streams that are closed after the test. */
  .extend('opened', async ({ app: _ }, { onCleanup }) => {
    const opened: { close: () => void }[] = []
    onCleanup(() => {
      for (const stream of opened) stream.close()
    })
    return opened
  })
  /** Opens an event stream after all earlier events have become visible. */
  .extend(
    'follow',
    ({ server, tenant, token, opened }) =>
      async (query: string, variables: object = {}, options: FollowOptions = {}): Promise<EventReader> => {
        const { lastEventId } = options
        const headers: Record<string, string> = lastEventId ? { 'last-event-id': lastEventId } : {}
        if (!lastEventId && !('after' in variables)) await awaitVisible(tenant)
        const bearer = options.token ?? token
        const reader = await openEventStream(server.urlOf(tenant), bearer, query, variables, headers)
        opened.push(reader)
        return reader
      },
  )
  .extend(
    'followBySocket',
    ({ server, tenant, token, opened }) =>
      (query: string, variables: Record<string, unknown> = {}, bearer = token): SocketStream => {
        const client = openSocket(server.socketUrlOf(tenant), bearer)
        opened.push({ close: () => void client.dispose() })
        const closed = new Promise<{ code: number; reason: string }>((resolve) => {
          client.on('closed', (event) => resolve(event as { code: number; reason: string }))
        })
        const results = client.iterate({ query, variables })
        return {
          next: async () => ((await results.next()).value as GraphqlBody | undefined) ?? null,
          closed,
        }
      },
  )
