import { expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { type NewSessionOptions, startBrowserSession, startSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { MINIMAL_CLIENT } from './clients.ts'
import { sql } from './database.ts'
import { MINUTE } from './passcodes.ts'
import { test as base } from './tenant-per-test.ts'

export const INVALID_SESSION_TOKEN = expect.objectContaining({
  name: 'InvalidCredential',
  status: 401,
  message: 'The session token is not valid.',
})
export const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE)

/** `test` with a tenant for each test, and sessions of a user in it. */
export const test = base
  .extend('userId', async ({ ctx }) => (await createUser(ctx, {})).id)
  /** Starts a session of kind `api` that ends in an hour. */
  .extend(
    'start',
    ({ ctx, userId }) =>
      (over: Partial<NewSessionOptions> = {}) =>
        ctx.db.transaction((tx) =>
          startSession(tx, ctx, {
            userId,
            kind: 'api',
            expiresAt: inMinutes(60),
            refreshable: true,
            proof: { method: 'passcode', amr: ['otp'] },
            ...over,
          }),
        ),
  )
  .extend(
    'startBrowser',
    ({ ctx, userId }) =>
      () =>
        ctx.db.transaction((tx) =>
          startBrowserSession(tx, ctx, { userId, proof: { method: 'passcode', amr: ['otp'] } }),
        ),
  )
  .extend(
    'newClientId',
    ({ ctx }) =>
      async () =>
        (await createClient(createPlatformCtx(ctx.tenant), MINIMAL_CLIENT)).client.id,
  )
  .extend('findRow', ({ ctx }) => async (sessionId: string) => {
    const [row] = await sql<Record<string, unknown>>(
      'SELECT * FROM "Session" WHERE "tenantId" = $1 AND "id" = $2',
      [ctx.tenant, sessionId],
    )
    return row
  })
  .extend(
    'listActiveIds',
    ({ ctx }) =>
      () =>
        sql<{ id: string }>('SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "endedAt" IS NULL', [
          ctx.tenant,
        ]),
  )
