import type { Ctx } from '../core/context.ts'
import { env } from '../core/env.ts'
import { lookUpLocation } from '../core/ip-location.ts'
import { describeBrowser } from '../core/user-agent.ts'
import type { RequestingSignIn } from '../delivery/passcode-texts.ts'

/** What a message says about the sign-in that requested its code. Called where the message is composed. */
export const describeSignIn = (
  { ip, userAgent }: Ctx,
  clientName: string | null,
  now: Date,
): RequestingSignIn => ({
  clientName,
  browser: describeBrowser(userAgent),
  place: lookUpLocation(ip),
  requestedAt: now,
  host: new URL(env.baseUrl).hostname,
})
