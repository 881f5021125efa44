import { getAdministeredId } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { EVENTS_TOPIC, subscribe } from '../coordination/bus.ts'
import { type AppError, Unauthenticated } from '../core/errors.ts'
import { Expiries } from '../core/expiries.ts'
import { log } from '../core/log.ts'
import { ACCOUNT_SCOPE, getRoleScopes, isScope, ORGANIZATION_SCOPE } from '../core/scopes.ts'
import { system } from '../database/system.ts'
import { isAllowedFrom } from './api-keys/find-api-key.ts'
import type { AuthenticatedToken } from './authenticate.ts'
import { type StreamTokenBasis, selectTokenStatuses, type TokenStatus } from './watch-token.sql.ts'

/** A revocation closes a stream within a second, which includes the time of the statement. */
const RECHECK_INTERVAL_MS = 800
/** Events of a tenant cause an earlier check; the delay limits the checks of a busy tenant. */
const RECHECK_DELAY_MS = 50

/**
 * An open subscription: the caller, the access token that it was opened with, and the controller that ends
 * it.
 */
export type OpenStream = {
  ctx: Ctx
  token: AuthenticatedToken['token'] | null
  stream: { stop: AbortController }
}

/** The streams whose tokens depend on the same rows and have the same scopes: one check is for all. */
type Basis = { key: string; ctx: Ctx; rows: StreamTokenBasis; streams: Set<OpenStream> }

/** The open streams by the key of their basis. */
const bases = new Map<string, Basis>()
let timer: NodeJS.Timeout | undefined
let nextCheckAt = 0
let isChecking = false
let stopListening: (() => void) | undefined

/** Clients get a new token and resume at their position. */
const createRevokedTokenError = (): Unauthenticated =>
  new Unauthenticated('The access token is expired or revoked.')

function toStreamTokenBasis({ ctx: { actor, tenant }, token }: OpenStream): StreamTokenBasis {
  const user = actor.kind === 'user' ? actor : null
  const caller = actor.kind === 'user' || actor.kind === 'client' ? actor : null
  return {
    tenant: caller?.tenant ?? tenant,
    target: tenant,
    clientId: caller?.clientId ?? null,
    userId: user?.userId ?? null,
    grantId: user?.grantId ?? null,
    sessionId: user?.sessionId ?? null,
    organizationId: user?.organizationId ?? null,
    deviceIp: user?.deviceIp ?? null,
    keyHash: token?.keyHash ?? null,
  }
}

const hasAccountScope = ({ actor }: Ctx): boolean =>
  actor.kind === 'user' && (actor.oidcScopes?.has(ACCOUNT_SCOPE) ?? false)

/** True while all scopes of the stream are permitted. */
function isStillAuthorized(ctx: Ctx, status: TokenStatus): boolean {
  if (hasAccountScope(ctx) && !status.scopes.includes(ACCOUNT_SCOPE)) return false
  if (
    getAdministeredId(ctx) !== null &&
    !(status.isAdministrator && status.scopes.includes(ORGANIZATION_SCOPE))
  )
    return false
  const roleScopes = status.roles && getRoleScopes(status.roles)
  const permitted = new Set(
    status.scopes.filter((scope) => isScope(scope) && (!roleScopes || roleScopes.has(scope))),
  )
  return [...ctx.scopes].every((scope) => permitted.has(scope))
}

/** Adds a stream to those of its basis. */
function joinBasis(stream: OpenStream): Basis {
  const { ctx } = stream
  const rows = toStreamTokenBasis(stream)
  const key = JSON.stringify([rows, hasAccountScope(ctx), getAdministeredId(ctx), [...ctx.scopes].sort()])
  const basis = bases.get(key) ?? { key, ctx, rows, streams: new Set() }
  bases.set(key, basis)
  basis.streams.add(stream)
  return basis
}

function leaveBasis({ key, streams }: Basis, stream: OpenStream): void {
  streams.delete(stream)
  if (streams.size === 0) bases.delete(key)
  if (bases.size > 0) return
  clearTimeout(timer)
  nextCheckAt = 0
  stopListening?.()
  stopListening = undefined
}

/** Checks the tokens of all open streams with one statement, and ends streams whose token is inactive. */
async function recheckTokens(): Promise<void> {
  const checked = [...bases.values()]
  const statuses = await selectTokenStatuses(
    system,
    checked.map(({ rows }) => rows),
  )
  checked.forEach(({ ctx, streams }, index) => {
    const status = statuses[index] ?? null
    const permitted = status && isStillAuthorized(ctx, status) ? status : null
    for (const open of [...streams])
      if (!permitted || !isAllowedFrom(permitted, open.ctx.ip))
        open.stream.stop.abort(createRevokedTokenError())
  })
}

async function runRecheck(): Promise<void> {
  isChecking = true
  try {
    await recheckTokens()
  } catch (error) {
    // The database is unavailable, so that streams receive no events either. The next check retries.
    log.warn({ err: error }, 'tokens of open subscriptions could not be checked')
  }
  isChecking = false
  nextCheckAt = 0
  scheduleRecheck(RECHECK_INTERVAL_MS)
}

function scheduleRecheck(delayMs: number): void {
  const at = Date.now() + delayMs
  if (bases.size === 0 || isChecking || (nextCheckAt !== 0 && nextCheckAt <= at)) return
  clearTimeout(timer)
  nextCheckAt = at
  timer = setTimeout(() => void runRecheck(), delayMs)
  timer.unref()
}

/** The open streams by the time when their tokens expire. */
const expiries = new Expiries<OpenStream>(({ stream }) => stream.stop.abort(createRevokedTokenError()))

/** Ends a stream with Unauthenticated when its token expires or is revoked. `onEnd` is called when the stream ends. */
export function watchStreamToken(context: OpenStream, onEnd: (reason: unknown) => void): void {
  const { signal } = context.stream.stop
  if (signal.aborted) {
    onEnd(signal.reason)
    return
  }
  const basis = joinBasis(context)
  stopListening ??= subscribe(EVENTS_TOPIC, (tenant) => {
    for (const { ctx } of bases.values()) if (ctx.tenant === tenant) return scheduleRecheck(RECHECK_DELAY_MS)
  })
  const expiry = expiries.add(context, context.token?.expiresAt ?? new Date(0))
  signal.addEventListener(
    'abort',
    () => {
      expiries.delete(context, expiry)
      leaveBasis(basis, context)
      onEnd(signal.reason)
    },
    { once: true },
  )
  scheduleRecheck(RECHECK_INTERVAL_MS)
}

/** Ends every open stream with `reason`, when the process shuts down. */
export function endAllStreams(reason: AppError): void {
  for (const { streams } of [...bases.values()])
    for (const { stream } of [...streams]) stream.stop.abort(reason)
}
