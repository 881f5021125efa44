import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { createApiKey, revokeApiKey, rotateApiKey, updateApiKey } from '../../src/api-keys/api-keys.ts'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createClient } from '../../src/clients/clients.ts'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { createMembership, deleteMembership } from '../../src/organizations/memberships.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { revokeSession } from '../../src/sessions/revoke-sessions.ts'
import { createManagementRole, updateManagementRole } from '../../src/users/management-roles.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser, deleteUser, lockUser } from '../../src/users/users.ts'
import { tokenFor } from '../support/actors.ts'
import { inTransaction } from '../support/database.ts'
import { newAdministrator } from '../support/organization-administrators.ts'
import type { EventReader } from '../support/streams.ts'
import { EVENTS, LOCKS, NUMBERS, SESSIONS, test } from '../support/subscriptions.ts'

describe('the access token of an open stream', () => {
  async function secondsUntilEnd(reader: EventReader, act: () => Promise<unknown>): Promise<number> {
    await act()
    const start = performance.now()
    for (;;) {
      const event = await reader.next()
      if (event?.data?.errors) {
        expect(event.data.errors[0]?.extensions.code).toBe('UNAUTHENTICATED')
        expect((await reader.next())?.event).toBe('complete')
        return (performance.now() - start) / 1000
      }
      if (!event) throw new Error('the stream ended without an error')
    }
  }

  test.for<[string, (ctx: Ctx, user: { userId: string; sessionId: string }) => Promise<unknown>]>([
    ['its session is revoked', (ctx, { sessionId }) => revokeSession(ctx, sessionId)],
    ['its user is locked', (ctx, { userId }) => lockUser(ctx, userId)],
    ['its user is deleted', (ctx, { userId }) => deleteUser(ctx, userId)],
  ])('ends the stream within a second when %s', async ([_what, revoke], { ctx, follow, newSubscriber }) => {
    const user = await newSubscriber()
    const reader = await follow(
      SESSIONS,
      { userId: user.userId, kinds: ['REFRESHED'] },
      { token: user.token },
    )
    expect(reader.status).toBe(200)
    expect(await secondsUntilEnd(reader, () => revoke(ctx, user))).toBeLessThan(1.2)
  })

  test('ends the stream when its session ends without a wake-up or an event', async ({
    tenant,
    newSubscriber,
    follow,
  }) => {
    const user = await newSubscriber()
    const reader = await follow(SESSIONS, { userId: user.userId }, { token: user.token })
    const quietly = () =>
      inTransaction((sql) =>
        sql('UPDATE "Session" SET "endedAt" = now() WHERE "tenantId" = $1 AND "id" = $2', [
          tenant,
          user.sessionId,
        ]),
      )
    expect(await secondsUntilEnd(reader, quietly)).toBeLessThan(1.2)
  })

  test('ends the stream when its user loses the role that granted the scope', async ({
    tenant,
    ctx,
    newSubscriber,
    follow,
  }) => {
    const user = await newSubscriber(['users:read'])
    const setRoles = (roles: string[]) =>
      inTransaction((sql) =>
        sql('UPDATE "User" SET "roles" = $3 WHERE "tenantId" = $1 AND "id" = $2', [
          tenant,
          user.userId,
          roles,
        ]),
      )
    await setRoles(['auditor'])
    const reader = await follow(LOCKS, {}, { token: user.token })
    const { id: otherId } = await createUser(ctx, { name: 'Grace' })
    await lockUser(ctx, otherId)
    expect((await reader.next())?.data?.data.userLockChanged.userId).toBe(otherId)
    expect(await secondsUntilEnd(reader, () => setRoles([]))).toBeLessThan(1.2)
  })

  test('ends the stream when a role that the tenant defined no longer permits the scope', async ({
    ctx,
    newSubscriber,
    follow,
  }) => {
    const { id } = await createManagementRole(ctx, { name: 'reader', scopes: ['users:read', 'roles:read'] })
    const user = await newSubscriber(['users:read'])
    await setUserRoles(ctx, user.userId, { roles: ['reader'] })
    const reader = await follow(LOCKS, {}, { token: user.token })
    expect(reader.status).toBe(200)
    const reduce = () => updateManagementRole(ctx, id, { scopes: ['roles:read'] })
    expect(await secondsUntilEnd(reader, reduce)).toBeLessThan(1.2)
  })

  test('ends the stream of a user when its client loses scope account', async ({
    ctx,
    newClient,
    newSubscriber,
    follow,
  }) => {
    const { id } = await newClient({ scopes: ['account'] })
    const user = await newSubscriber([], id)
    const reader = await follow(SESSIONS, { userId: user.userId }, { token: user.token })
    expect(reader.status).toBe(200)
    expect(await secondsUntilEnd(reader, () => updateClient(ctx, id, { scopes: [] }))).toBeLessThan(1.2)
  })

  test('ends the stream of a token for an organization when the membership ends', async ({
    ctx,
    appId,
    newSubscriber,
    follow,
  }) => {
    const organization = await createOrganization(ctx, { slug: 'acme', name: 'Acme' })
    const user = await newSubscriber([], appId, organization.id)
    const { id } = await createMembership(ctx, organization.id, { userId: user.userId })
    const reader = await follow(SESSIONS, { userId: user.userId }, { token: user.token })
    expect(reader.status).toBe(200)
    expect(await secondsUntilEnd(reader, () => deleteMembership(ctx, id))).toBeLessThan(1.2)
  })

  test('ends the stream of an administrator of an organization when the right is taken', async ({
    tenant,
    ctx,
    follow,
  }) => {
    const { id } = await createOrganization(ctx, { slug: 'globex', name: 'Globex' })
    const { token, ownMembershipId } = await newAdministrator(tenant, id)
    const live = `subscription ($id: ID!) { membershipChanged(organizationId: $id) { __typename } }`
    const reader = await follow(live, { id }, { token })
    expect(reader.status).toBe(200)
    const take = () =>
      inTransaction((sql) =>
        sql('UPDATE "Membership" SET "isAdministrator" = false WHERE "tenantId" = $1 AND "id" = $2', [
          tenant,
          ownMembershipId,
        ]),
      )
    expect(await secondsUntilEnd(reader, take)).toBeLessThan(1.2)
  })

  test('ends the stream when its client is deleted', async ({ tenant, follow }) => {
    const scopes: Scope[] = ['events:read']
    const { client } = await createClient(createPlatformCtx(tenant), {
      name: 'Short-lived',
      appType: 'machine',
      type: 'login',
      scopes,
    })
    const audience = [apiAudienceOf(tenant)]
    const request = { subject: client.id, clientId: client.id, scopes, audience, lifetimeSeconds: 600 }
    const reader = await follow(EVENTS, NUMBERS, { token: await issueAccessToken(tenant, request) })
    const remove = () =>
      inTransaction((sql) =>
        sql('DELETE FROM "Client" WHERE "tenantId" = $1 AND "id" = $2', [tenant, client.id]),
      )
    expect(await secondsUntilEnd(reader, remove)).toBeLessThan(1.2)
  })

  test.for<[string, (ctx: Ctx, key: { id: string; userId: string }) => Promise<unknown>]>([
    ['it is revoked', (ctx, { id }) => revokeApiKey(ctx, id)],
    ['it is rotated without an overlap', (ctx, { id }) => rotateApiKey(ctx, id, { overlapSeconds: 0 })],
    ['it loses a scope', (ctx, { id }) => updateApiKey(ctx, id, { scopes: [] })],
    [
      'its networks exclude the caller',
      (ctx, { id }) => updateApiKey(ctx, id, { allowedNetworks: ['203.0.113.0/24'] }),
    ],
    ['its user is locked', (ctx, { userId }) => lockUser(ctx, userId)],
    ['its user loses the role', (ctx, { userId }) => setUserRoles(ctx, userId, { roles: [] })],
  ])('ends the stream of an API key within a second when %s', async ([_what, act], { ctx, follow }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    await setUserRoles(ctx, userId, { roles: ['auditor'] })
    const { apiKey, key } = await createApiKey(ctx, { name: 'Live', userId, scopes: ['users:read'] })
    const reader = await follow(LOCKS, {}, { token: key })
    const { id: otherId } = await createUser(ctx, { name: 'Grace' })
    await lockUser(ctx, otherId)
    expect((await reader.next())?.data?.data.userLockChanged.userId).toBe(otherId)
    expect(await secondsUntilEnd(reader, () => act(ctx, { id: apiKey.id, userId }))).toBeLessThan(1.2)
  })

  test('ends the stream when it expires', async ({ tenant, follow }) => {
    const brief = await tokenFor(tenant, ['events:read'], 4)
    const reader = await follow(EVENTS, NUMBERS, { token: brief })
    const seconds = await secondsUntilEnd(reader, async () => undefined)
    expect(seconds).toBeGreaterThan(0.5)
    expect(seconds).toBeLessThan(4.5)
  })

  test('closes a WebSocket with 4403 within a second when its user is locked', async ({
    ctx,
    newSubscriber,
    followBySocket,
  }) => {
    const user = await newSubscriber()
    const stream = followBySocket(SESSIONS, { userId: user.userId, kinds: ['REFRESHED'] }, user.token)
    const ended = stream.next().catch(() => null)
    await sleep(300)
    const start = performance.now()
    await lockUser(ctx, user.userId)
    expect((await ended)?.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
    expect((await stream.closed).code).toBe(4403)
    expect(performance.now() - start).toBeLessThan(5000)
  })
})
