import type { Ctx } from '../core/context.ts'
import { lookUpLocation } from '../core/ip-location.ts'
import { describeBrowser } from '../core/user-agent.ts'
import type { RequestSource } from '../delivery/messages/shared-words.ts'

/** What a message says about the request that caused it. Called where the message is composed. */
export const describeRequestSource = ({ ip, userAgent }: Ctx, now = new Date()): RequestSource => ({
  browser: describeBrowser(userAgent),
  place: lookUpLocation(ip),
  requestedAt: now,
})
