import type { Ctx } from '../context/context.ts'
import { lookUpPlace } from '../core/network/ip-location.ts'
import type { RequestSource } from '../delivery/messages/shared-words.ts'

/** What a message says about the request that caused it. Called where the message is composed. */
export const describeRequestSource = ({ ip, userAgent }: Ctx, now = new Date()): RequestSource => ({
  userAgent,
  place: lookUpPlace(ip),
  requestedAt: now,
})
