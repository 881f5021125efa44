import { listen } from '../bus.ts'
import { type Ctx, isScope, type Scope, scopesOfRoles } from '../ctx.ts'
import { sql } from '../db.ts'
import { type AppError, Unauthenticated } from '../errors.ts'
import { WAKE_TOPIC } from '../events.ts'
import { log } from '../log.ts'
import type { GraphQLContext } from './context.ts'
import { type Basis, type Standing, selectStandings } from './revocation.sql.ts'
import { endStream } from './stream.ts'

/** A revocation closes a stream within a second: the look itself and its statement need some of it. */
const TICK_MS = 800
/** News of a tenant make us look sooner, but a busy tenant must not make us look all the time. */
const SOON_MS = 50

const open = new Set<GraphQLContext>()
let timer: NodeJS.Timeout | undefined
let lookAt = 0
let looking = false
let unlisten: (() => void) | undefined

/** The token, or what it stood for, is gone: clients get a new one and come back with their position. */
const ended = (): Unauthenticated => new Unauthenticated('The access token is expired or revoked.')

function basisOf({ actor, tenant }: Ctx): Basis {
  const person = actor.kind === 'user' ? actor : null
  const caller = actor.kind === 'user' || actor.kind === 'client' ? actor : null
  return {
    tenant: caller?.tenant ?? tenant,
    target: tenant,
    clientId: caller?.clientId ?? null,
    userId: person?.userId ?? null,
    grantId: person?.grantId ?? null,
    sessionId: person?.sessionId ?? null,
  }
}

/** Whether everything that the stream was opened with is still permitted. */
function stillHolds(scopes: ReadonlySet<Scope>, standing: Standing | null): boolean {
  if (!standing) return false
  const ofRoles = standing.roles && scopesOfRoles(standing.roles)
  const permitted = new Set(
    standing.clientScopes.filter((scope) => isScope(scope) && (!ofRoles || ofRoles.has(scope))),
  )
  return [...scopes].every((scope) => permitted.has(scope))
}

/** Checks the tokens of all open streams: one statement, however many there are. */
async function look(): Promise<void> {
  const streams = [...open]
  const standings = await selectStandings(
    sql,
    streams.map(({ ctx }) => basisOf(ctx)),
  )
  const now = Date.now()
  streams.forEach((context, index) => {
    const expired = context.token !== null && context.token.expiresAt.getTime() <= now
    if (expired || !stillHolds(context.ctx.scopes, standings[index] ?? null)) endStream(context, ended())
  })
}

async function tick(): Promise<void> {
  looking = true
  try {
    await look()
  } catch (error) {
    // The database is away: the streams have no news either. Readiness says so, and the next tick tries again.
    log.warn({ err: error }, 'tokens of open subscriptions could not be checked')
  }
  looking = false
  lookAt = 0
  schedule(TICK_MS)
}

function schedule(delayMs: number): void {
  const at = Date.now() + delayMs
  if (open.size === 0 || looking || (lookAt !== 0 && lookAt <= at)) return
  clearTimeout(timer)
  lookAt = at
  timer = setTimeout(() => void tick(), delayMs)
  timer.unref()
}

/** Watches the token behind a stream until the stream ends, and ends it when the token no longer stands. */
export function watchToken(context: GraphQLContext): void {
  if (context.stream.signal.aborted) return
  open.add(context)
  unlisten ??= listen(WAKE_TOPIC, (tenant) => {
    for (const { ctx } of open) if (ctx.tenant === tenant) return schedule(SOON_MS)
  })
  const expiry = setTimeout(
    () => endStream(context, ended()),
    (context.token?.expiresAt.getTime() ?? 0) - Date.now(),
  )
  expiry.unref()
  context.stream.signal.addEventListener(
    'abort',
    () => {
      clearTimeout(expiry)
      open.delete(context)
      if (open.size > 0) return
      clearTimeout(timer)
      lookAt = 0
      unlisten?.()
      unlisten = undefined
    },
    { once: true },
  )
  schedule(TICK_MS)
}

/** Ends every open stream, as the program stops. */
export function endAllStreams(reason: AppError): void {
  for (const context of [...open]) endStream(context, reason)
}
