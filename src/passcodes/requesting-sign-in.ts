import { describeRequestSource } from '../access/request-source.ts'
import type { Ctx } from '../core/context.ts'
import { env } from '../core/env.ts'
import type { RequestingSignIn } from '../delivery/messages/passcode.ts'

/** What a message says about the sign-in that requested its code. Called where the message is composed. */
export const describeSignIn = (
  ctx: Ctx,
  client: { name: string; registeredBy: string } | null,
  now: Date,
): RequestingSignIn => ({
  ...describeRequestSource(ctx, now),
  clientName: client?.name ?? null,
  isManagedClient: client?.registeredBy === 'administrator',
  host: new URL(env.baseUrl).hostname,
})
