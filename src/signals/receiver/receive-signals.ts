import { recordFirstUse } from '../../access/dpop/used-proofs.sql.ts'
import { revokeSessions } from '../../access/revocation/revocation.ts'
import type { Ctx } from '../../context/context.ts'
import { toEpochSeconds } from '../../core/time.ts'
import type { Tx } from '../../database/handle.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import type { IdentityProvider } from '../../generated/prisma/client.ts'
import { selectProviderSessionUsers } from '../../idps/provider/provider-sessions.sql.ts'
import { clearIdTokens } from '../../idps/provider/provider-sessions.ts'
import { lockUserRow } from '../../users/lock-user.sql.ts'
import { selectLinksByEmail, setLinkDisabled } from './links.sql.ts'
import {
  MAX_SIGNAL_AGE_SECONDS,
  type ReceivedSignal,
  type ReceivedToken,
  RejectedSignal,
} from './received-signal.ts'

/** What a type of event means here. */
type Effect = 'end' | 'disable' | 'enable' | 'verify'

/** The types by the end of their URI: those of SSF, CAEP and RISC, of their drafts, and of Google. Others change nothing. */
const EFFECTS: Record<string, Effect> = {
  'caep/event-type/session-revoked': 'end',
  'risc/event-type/sessions-revoked': 'end',
  'oauth/event-type/tokens-revoked': 'end',
  'risc/event-type/account-disabled': 'disable',
  'risc/event-type/account-purged': 'disable',
  'risc/event-type/account-enabled': 'enable',
  'ssf/event-type/verification': 'verify',
  'sse/event-type/verification': 'verify',
  'risc/event-type/verification': 'verify',
}
const PREFIX = 'https://schemas.openid.net/secevent/'

const findEffect = (type: string): Effect | undefined => {
  const path = type.startsWith(PREFIX) ? type.slice(PREFIX.length) : ''
  return Object.hasOwn(EFFECTS, path) ? EFFECTS[path] : undefined
}

type Provider = Pick<IdentityProvider, 'id' | 'signalsIssuer'>
/** An identity at the provider, or a session there. */
type Target = { issuer: string; subject: string | null; sid: string | null }

const trimSlash = (issuer: string): string => issuer.replace(/\/$/, '')

/** Whom a signal is about, by the keys of links and sessions. Throws RejectedSignal for a subject of another issuer. */
async function findTargets(
  tx: Tx,
  { id: idpId, issuer, signalsIssuer }: Provider & { issuer: string | null },
  { subject, sid, email, ...signal }: ReceivedSignal,
  effect: Effect,
): Promise<Target[]> {
  if (email !== null)
    return (await selectLinksByEmail(tx, { idpId, email: email.toLowerCase() })).map((link) => ({
      ...link,
      sid,
    }))
  const named = signal.issuer ?? issuer ?? signalsIssuer ?? ''
  const isOwn = [issuer, signalsIssuer].some((own) => own !== null && trimSlash(own) === trimSlash(named))
  if (!isOwn) throw new RejectedSignal('invalid_request', 'the subject is of another issuer')
  const key = { issuer: issuer ?? named }
  // An opaque subject of an account names no session.
  if (effect !== 'end') return (subject ?? sid) ? [{ ...key, subject: subject ?? sid, sid: null }] : []
  return (subject ?? sid) ? [{ ...key, subject, sid }] : []
}

/** Ends what came from an identity or a session there; returns the number of sessions. */
async function endSessions(tx: Tx, ctx: Ctx, idpId: string, target: Target, now: Date): Promise<number> {
  const key = { idpId, ...target }
  for (const userId of await selectProviderSessionUsers(tx, key)) await lockUserRow(tx, userId)
  const ended = await revokeSessions(tx, ctx, { kind: 'provider sessions', ...key }, 'revoked', now)
  await clearIdTokens(tx, { sessionId: { in: ended.map(({ id }) => id) } })
  return ended.length
}

async function applyTo(
  tx: Tx,
  ctx: Ctx,
  idpId: string,
  { effect, target, issuedAt, now }: { effect: Effect; target: Target; issuedAt: Date; now: Date },
): Promise<number> {
  const sessions = effect === 'enable' ? 0 : await endSessions(tx, ctx, idpId, target, now)
  if (effect === 'end' || target.subject === null) return sessions
  const isDisabled = effect === 'disable'
  const { issuer, subject } = target
  const link = await setLinkDisabled(tx, { idpId, issuer, subject, at: issuedAt, isDisabled })
  if (link) {
    const about = { userId: link.userId, linkId: link.id, idpId }
    await recordEvents(tx, ctx, [createEvent(isDisabled ? 'idpuser.disabled' : 'idpuser.enabled', about)])
  }
  return sessions
}

/**
 * Acts on a verified token of a provider, once: `session-revoked` ends the sessions that came from it, `account-disabled` also
 * keeps the linked identity from signing in until `account-enabled`. A repeated token is accepted and changes nothing. Throws
 * RejectedSignal for one without a subject that is understood.
 */
export async function receiveSignals(
  ctx: Ctx,
  provider: Provider,
  { jti, issuedAt, issuer, signals }: ReceivedToken,
): Promise<void> {
  const now = new Date()
  const untilSeconds = toEpochSeconds(issuedAt) + MAX_SIGNAL_AGE_SECONDS
  await ctx.db.transaction(async (tx) => {
    const { id: idpId } = provider
    if (!(await recordFirstUse(tx, { kind: 'signal', owner: idpId, jti, untilSeconds }))) return
    for (const signal of signals) {
      const effect = findEffect(signal.type)
      if (!effect) continue
      const targets =
        effect === 'verify' ? [] : await findTargets(tx, { ...provider, issuer }, signal, effect)
      if (targets.length === 0 && effect !== 'verify' && signal.email === null)
        throw new RejectedSignal('invalid_request', 'the subject is not understood')
      let sessions = 0
      for (const target of targets)
        sessions += await applyTo(tx, ctx, idpId, { effect, target, issuedAt, now })
      const type = signal.type.slice(signal.type.lastIndexOf('/') + 1)
      await recordEvents(tx, ctx, [createEvent('idp.signal_received', { idpId }, { type, sessions })])
    }
  })
}
