import type { Ctx } from '../../context/context.ts'
import { resolveCallerKey } from '../../coordination/call-budget.ts'
import { createHoldLimit } from '../../coordination/hold-limits.ts'
import { env } from '../../core/env.ts'
import { toNetwork } from '../../core/network/ip.ts'

/** One network has half of a process, one tenant a fifth, one user or client a fiftieth. */
const share = (parts: number): number => Math.ceil(env.subscriptions / parts)
const LIVE_LIMITS = { caller: share(50), site: share(2), tenant: share(5), process: env.subscriptions }

/** Subscriptions over WebSockets and event streams. */
const subscriptions = createHoldLimit('live subscriptions', LIVE_LIMITS)
/** WebSockets after connection_init. */
const sockets = createHoldLimit('WebSockets', LIVE_LIMITS)
/** WebSockets before it, which take five seconds at most, and upgrades that are being answered. */
const openingSockets = createHoldLimit(
  'WebSockets without connection_init',
  { caller: 50, site: 100, tenant: 250, process: 500 },
  { shrinks: true },
)

const toHolder = (ctx: Ctx) => ({ caller: resolveCallerKey(ctx), tenant: ctx.tenant, ip: ctx.ip })

/** Each counts one until the returned function is called, and throws RateLimited beyond a limit. */
export const holdSubscription = (ctx: Ctx): (() => void) => subscriptions.hold(toHolder(ctx))
export const holdSocket = (ctx: Ctx): (() => void) => sockets.hold(toHolder(ctx))
export const holdOpeningSocket = (tenant: string, ip: string | null): (() => void) =>
  openingSockets.hold({ caller: toNetwork(ip), tenant, ip })
