import { asPerson, type Ctx } from '../ctx.ts'
import { inTransaction, type Sql, sql } from '../db.ts'
import { InvalidCredential, InvalidInput } from '../errors.ts'
import { type NewEvent, recordEvents, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import type { User } from '../generated/prisma/client.ts'
import { spend } from '../limits.ts'
import { wakeAfterEnding } from '../sessions/after-ending.ts'
import type { SessionRow } from '../sessions/sessions.sql.ts'
import { startBrowserSession, startSession } from '../sessions/sessions.ts'
import { isCode, tidyCode } from './code-hash.ts'
import { applyFirstProof, type Removed } from './first-proof.sql.ts'
import { type Address, AuthenticatePasscode, addressOf, type Channel } from './passcodes.fields.ts'
import { countAttempt, redeem } from './passcodes.sql.ts'

/** Authentication methods of a code (RFC 8176). */
const AMR: Record<Channel, string[]> = { email: ['otp'], sms: ['otp', 'sms'] }

/** One answer for a wrong, used, expired or exhausted code, an unknown address and a locked user. */
const wrongCode = () => new InvalidCredential('The code is wrong or has expired.')

function eventsOfFirstProof(userId: string, channel: Channel, removed: Removed[]): NewEvent[] {
  const gone = (what: Removed['what']) => removed.filter((item) => item.what === what)
  const client = ({ clientId }: Removed) => (clientId ? [clientId] : [])
  return [
    {
      type: 'user.updated',
      userId,
      subjectIds: [...gone('credential'), ...gone('link')].map(({ id }) => id),
      changedFields: [channel === 'email' ? 'emailVerified' : 'phoneNumberVerified'],
      detail: {
        cause: 'first proof',
        credentialsRemoved: gone('credential').length,
        linksRemoved: gone('link').length,
      },
    },
    ...gone('session').map(
      (item): NewEvent => ({
        type: 'session.ended',
        userId,
        sessionId: item.id,
        subjectIds: client(item),
        detail: { reason: 'revoked' },
      }),
    ),
    ...gone('grant').map(
      (item): NewEvent => ({
        type: 'grant.revoked',
        userId,
        sessionId: item.sessionId,
        subjectIds: [item.id, ...client(item)],
        detail: { reason: 'revoked' },
      }),
    ),
  ]
}

const isProven = (user: User, channel: Channel): boolean =>
  channel === 'email' ? user.emailVerified : user.phoneNumberVerified

/**
 * Redeems a code and runs `then` in the transaction that uses it up, so that a failure there leaves the code alive.
 * The guess is counted and committed before it is compared: parallel guesses cannot outrun the count. Round trips:
 * wrong 2, right 4 and what `then` needs, the first proof of an address 2 more. `by` says on whose behalf the rest is
 * once the code was right. Throws InvalidCredential.
 */
async function redeemCode<T>(
  ctx: Ctx,
  address: Address,
  code: string,
  now: Date,
  by: (userId: string) => Ctx,
  finish: (sql: Sql, ctx: Ctx, user: User) => Promise<T>,
): Promise<T> {
  const { channel, key } = address
  const attempt = await countAttempt(sql, ctx.tenant, key, now)
  if (!attempt) throw wrongCode()
  const { userId, codeHash } = attempt
  if (!isCode(ctx.tenant, key, tidyCode(code), codeHash) || userId === null) {
    await recordEvents(sql, ctx, [{ type: 'passcode.failed', userId, detail: { channel } }])
    wakeReaders(ctx.tenant)
    throw wrongCode()
  }
  let wake = wakeReaders
  const result = await inTransaction(async (sql) => {
    const user = await redeem(sql, ctx.tenant, { channel, key, userId, codeHash, now })
    if (!user) throw wrongCode()
    const proven = by(userId)
    if (isProven(user, channel)) return finish(sql, proven, user)
    const proof = await applyFirstProof(sql, ctx.tenant, { channel, userId, now })
    await recordEvents(sql, proven, eventsOfFirstProof(userId, channel, proof.removed))
    wake = wakeAfterEnding
    return finish(sql, proven, proof.user)
  })
  wake(ctx.tenant)
  return result
}

export type AuthenticatedPasscode = { session: SessionRow | null; sessionToken: string | null; user: User }

/**
 * Authenticates a passcode for a management caller (spec: Authenticate passcode). With sessionExpirationMinutes above
 * 0 it starts a refreshable session. Throws InvalidInput, RateLimited (the network of metadata.ipAddress, when given)
 * and InvalidCredential, the same whatever is wrong.
 */
export async function authenticatePasscode(
  ctx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<AuthenticatedPasscode> {
  const { to, code, sessionExpirationMinutes, metadata } = parse(AuthenticatePasscode, input)
  if (metadata.ipAddress) await spend('authenticatePasscode', ctx.tenant, metadata.ipAddress)
  const byCaller = () => ctx
  return redeemCode(ctx, to, code, now, byCaller, async (sql, ctx, user) => {
    if (sessionExpirationMinutes === 0) return { session: null, sessionToken: null, user }
    const { session, token } = await startSession(
      sql,
      ctx,
      {
        userId: user.id,
        kind: 'api',
        refreshable: true,
        expiresAt: new Date(now.getTime() + sessionExpirationMinutes * 60_000),
        amr: AMR[to.channel],
        // The backend is not where the person is.
        seenFrom: { ip: metadata.ipAddress, userAgent: metadata.userAgent },
      },
      now,
    )
    return { session, sessionToken: token, user }
  })
}

/**
 * Verifies the code of a hosted page and starts the browser session in the same transaction; `ctx` is the visitor's
 * request, `clientId` the client that sent them. `token` goes into the cookie. Throws InvalidCredential, and RateLimited
 * for the network's budget.
 */
export async function verifySignInPasscode(
  ctx: Ctx,
  to: string,
  code: string,
  clientId: string | null = null,
  now = new Date(),
): Promise<{ userId: string; session: SessionRow; token: string }> {
  const address = addressOf(to)
  if (!address) throw new InvalidInput([{ field: 'to', description: 'must be an e-mail address' }])
  await spend('authenticatePasscode', ctx.tenant, ctx.ip)
  const by = (userId: string) => asPerson(ctx, { userId, clientId })
  return redeemCode(ctx, address, code, now, by, async (sql, ctx, user) => {
    const started = await startBrowserSession(sql, ctx, { userId: user.id, amr: AMR[address.channel] }, now)
    return { userId: user.id, ...started }
  })
}
