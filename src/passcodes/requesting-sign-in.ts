import { describeRequestSource } from '../access/request-source.ts'
import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import type { RequestingSignIn } from '../delivery/messages/passcode.ts'
import { localizeClient } from '../languages/localize-client.ts'

/** What a message in `language` says about the sign-in that requested its code. Called where the message is composed. */
export const describeSignIn = (
  ctx: Ctx,
  client: { name: string; registeredBy: string; translations?: unknown } | null,
  language: string,
  now: Date,
): RequestingSignIn => ({
  ...describeRequestSource(ctx, now),
  clientName: client && localizeClient(client, language).name,
  isManagedClient: client?.registeredBy === 'administrator',
  host: new URL(env.baseUrl).hostname,
})
