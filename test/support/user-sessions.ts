import type { Ctx } from '../../src/context/context.ts'
import { startSession } from '../../src/sessions/sessions.ts'

/** Starts a session of kind `api` that ends in an hour. */
export const startApiSession = (ctx: Ctx, userId: string) =>
  ctx.db.transaction((tx) =>
    startSession(tx, ctx, {
      userId,
      kind: 'api',
      expiresAt: new Date(Date.now() + 3_600_000),
      refreshable: true,
      proof: { method: 'passcode', amr: ['otp'] },
    }),
  )
