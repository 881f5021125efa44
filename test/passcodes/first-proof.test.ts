import { describe, expect } from 'vitest'
import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { HOUR, MINUTE, setClock, test } from '../support/passcodes.ts'

describe('the first proof of an address', () => {
  test('removes sessions, credentials, links and API keys from before it, except those that management made', async ({
    ctx,
    events,
    address,
    send,
    redeem,
    listActiveSessions,
  }) => {
    const user = await createUser(ctx, { email: address() })
    const plant = (byManagement: boolean) =>
      ctx.db.transaction((sql) =>
        startSession(sql, ctx, {
          userId: user.id,
          kind: 'api',
          expiresAt: new Date(Date.now() + HOUR),
          refreshable: true,
          proof: null,
          byManagement,
        }),
      )
    const [planted, given] = [await plant(false), await plant(true)]
    for (const [id, byManagement] of [
      ['planted', false],
      ['given', true],
    ] as const) {
      await sql(
        `INSERT INTO "Credential" ("tenantId", "id", "userId", "externalId", "byManagement") VALUES ($1, $2, $3, $2, $4)`,
        [ctx.tenant, id, user.id, byManagement],
      )
      await sql(
        `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, $2, 'oidc', $2)`,
        [ctx.tenant, id],
      )
      await sql(
        `INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "externalId", "byManagement") VALUES ($1, $2, $3, $2, $2, $4)`,
        [ctx.tenant, id, user.id, byManagement],
      )
      await createApiKey(ctx, { name: id, userId: user.id }, { byManagement })
    }
    await send(address())
    const { session } = await redeem(address(), { sessionExpirationMinutes: 5 })
    expect(await listActiveSessions()).toEqual([{ id: given.session.id }, { id: session?.id }])
    const left = (table: string) => sql(`SELECT "id" FROM "${table}" WHERE "tenantId" = $1`, [ctx.tenant])
    expect(await left('Credential')).toEqual([{ id: 'given' }])
    expect(await left('IdpUser')).toEqual([{ id: 'given' }])
    expect(
      (await ctx.db.prisma.apiKey.findMany({ where: { tenantId: ctx.tenant } })).map(({ name }) => name),
    ).toEqual(['given'])
    expect(await events({ type: 'session.ended' })).toEqual([
      expect.objectContaining({ sessionId: planted.session.id, detail: { reason: 'revoked' } }),
    ])
    expect(await events({ type: 'user.updated' })).toEqual([
      expect.objectContaining({
        changedFields: ['emailVerified'],
        subjectIds: ['planted', 'planted', expect.stringMatching(/^apikey_/)],
        detail: { cause: 'first proof', credentialsRemoved: 1, linksRemoved: 1, apiKeysRemoved: 1 },
      }),
    ])
  })

  test('happens once: later proofs remove nothing', async ({
    events,
    address,
    send,
    redeem,
    listActiveSessions,
  }) => {
    const began = Date.now()
    await send(address(), { createUser: true })
    const first = await redeem(address(), { sessionExpirationMinutes: 5 })
    setClock(began + MINUTE)
    await send(address())
    const second = await redeem(address(), { sessionExpirationMinutes: 5 })
    expect(await listActiveSessions()).toEqual([{ id: first.session?.id }, { id: second.session?.id }])
    expect(await events({ type: 'user.updated' })).toHaveLength(1)
  })
})
