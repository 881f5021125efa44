import { loadMessageFrame, WARNING } from '../access/message-tenant.ts'
import { describeRequestSource } from '../access/request-source.ts'
import { toRevoked } from '../access/revocation/revocation.sql.ts'
import { createRevocationEvents } from '../access/revocation/revocation.ts'
import type { Ctx } from '../context/context.ts'
import { toUserCtx } from '../context/context.ts'
import { InvalidInput } from '../core/errors.ts'
import { cleanTypedCode } from '../core/typed-text.ts'
import type { Tx } from '../database/handle.ts'
import { deliverInBackground } from '../delivery/background.ts'
import { deliverMessage } from '../delivery/deliver-message.ts'
import { buildGuessNotice } from '../delivery/messages/wrong-codes.ts'
import { hashAddress } from '../events/address-hash.ts'
import type { NewEvent } from '../events/create-event.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { SignInFailure } from '../events/reasons.ts'
import type { User } from '../generated/prisma/client.ts'
import { hasJoinDomains, joinByDomain } from '../organizations/domain-joins.ts'
import { type NewProof, type SessionProof, toSessionProof } from '../sessions/proofs.ts'
import type { SessionRow } from '../sessions/sessions.sql.ts'
import { enterBrowserSession, type PresentSession } from '../sessions/sessions.ts'
import { applyFirstVerification, type RemovedAccess } from './first-verification.sql.ts'
import { limitUnauthenticated, returnProvenCode } from './network-limits.ts'
import {
  countPasscodeAttempt,
  type PasscodeAttempt,
  redeemPasscode,
  redeemSignUpPasscode,
} from './passcode-guesses.sql.ts'
import { isMatchingCode } from './passcode-hash.ts'
import { isKnownBrowser, type PasscodeOrigin } from './passcode-origin.ts'
import { type Channel, type PasscodeAddress, parseAddress } from './passcodes.fields.ts'
import { type CodeProblem, RejectedCode } from './rejected-code.ts'
import type { SignInPasscodeRequest } from './send-passcode.ts'

/** The authentication methods of a code (RFC 8176). */
const AMR_BY_CHANNEL: Record<Channel, string[]> = { email: ['otp'], sms: ['otp', 'sms'] }
export const createProof = (channel: Channel): NewProof => ({
  method: 'passcode',
  amr: AMR_BY_CHANNEL[channel],
})

/** The reason for the event log, which says more than the response. */
function toFailureReason(
  { ownerId, ownerLocked, userId, isSignUp }: PasscodeAttempt,
  problem: CodeProblem,
): SignInFailure {
  if (ownerId === null) return isSignUp ? problem : 'unknown'
  if (ownerLocked) return 'locked'
  return problem === 'wrong' && userId === null ? 'unverified' : problem
}

function createFirstVerificationEvents(
  userId: string,
  channel: Channel,
  removed: RemovedAccess[],
): NewEvent[] {
  const removedIds = (what: RemovedAccess['what']) =>
    removed.filter((item) => item.what === what).map(({ id }) => id)
  const [credentialIds, linkIds] = [removedIds('credential'), removedIds('link')]
  const apiKeyIds = removedIds('apiKey')
  const changedFields = [channel === 'email' ? 'emailVerified' : 'phoneNumberVerified']
  return [
    createEvent(
      'user.updated',
      { userId, credentialIds, linkIds, apiKeyIds, changedFields },
      {
        cause: 'first proof',
        credentialsRemoved: credentialIds.length,
        linksRemoved: linkIds.length,
        apiKeysRemoved: apiKeyIds.length,
      },
    ),
    ...createRevocationEvents(toRevoked(removed), 'revoked'),
  ]
}

const isAddressVerified = (user: User, channel: Channel): boolean =>
  channel === 'email' ? user.emailVerified : user.phoneNumberVerified

/**
 * Marks the address of a user as verified if it is not, with the events. Lock the user's row first.
 */
export async function verifyOwnAddress(
  tx: Tx,
  ctx: Ctx,
  user: User,
  channel: Channel,
  now: Date,
): Promise<User> {
  if (isAddressVerified(user, channel)) return user
  const proof = await applyFirstVerification(tx, { channel, userId: user.id, now })
  await recordEvents(tx, ctx, createFirstVerificationEvents(user.id, channel, proof.removed))
  return proof.user
}

/**
 * Notifies the user of an address, in the background, that wrong codes were entered. At most once a day: the
 * budget of guesses, whose end causes it, starts anew after a day without guesses.
 */
export function sendGuessNotice(
  ctx: Ctx,
  { channel, key }: PasscodeAddress,
  { ownerId, ownerLocked, ownerLocale }: Pick<PasscodeAttempt, 'ownerId' | 'ownerLocked' | 'ownerLocale'>,
): void {
  if (ownerId === null || ownerLocked) return
  deliverInBackground(async () => {
    const frame = await loadMessageFrame(ctx, ownerLocale, WARNING)
    const notice = buildGuessNotice(frame, describeRequestSource(ctx))
    await deliverMessage({ channel, to: key }, notice)
  })
}

/** The address of a code, and where it was requested. */
type EnteredCode = Pick<PasscodeOrigin, 'origin' | 'budget'> & {
  address: PasscodeAddress
  clientId: string | null
}

/**
 * Redeems a code and runs `finish` in the same transaction, so that an error there leaves the code unused. The
 * attempt is counted and committed before the comparison, so that parallel guesses cannot exceed the limit.
 * Returns null for the right code of an address without a user, which may sign up. Round trips: 2 for a wrong
 * code, 4 plus those of `finish` for a correct one, 2 more for the first verification of an address.
 * `createCtx` returns the context after the code was accepted. Throws RejectedCode.
 */
export async function redeemWithAttempt<T>(
  ctx: Ctx,
  { address, origin, budget, clientId }: EnteredCode,
  code: string,
  now: Date,
  createCtx: (userId: string) => Ctx,
  finish: (tx: Tx, ctx: Ctx, user: User) => Promise<T>,
): Promise<T | null> {
  const { channel, key } = address
  const guess = { channel, key, origin, budget, now }
  const attempt = await countPasscodeAttempt(ctx.db, guess)
  const { codeHash, isSignUp, ownerId } = attempt
  // The address may have got a user since the code was sent.
  const userId = isSignUp ? ownerId : attempt.userId
  const isRight =
    codeHash !== null &&
    isMatchingCode(ctx.tenant, key, cleanTypedCode(code), codeHash) &&
    (userId !== null || isSignUp === true)
  if (!isRight) {
    const problem = attempt.problem ?? 'wrong'
    const reason = toFailureReason(attempt, problem)
    // Also for an address without a user, so that the response time does not reveal whether one exists.
    await recordEvents(ctx.db, ctx, [
      ...(problem === 'wrong' ? [createEvent('passcode.failed', { userId: ownerId }, { channel })] : []),
      createEvent(
        'signin.failed',
        { userId: ownerId, clientId, addressHash: hashAddress(ctx.tenant, key) },
        { method: 'passcode', channel, reason },
      ),
    ])
    if (attempt.isLastShort) sendGuessNotice(ctx, address, attempt)
    throw new RejectedCode(problem)
  }
  if (userId === null) {
    if (!(await redeemSignUpPasscode(ctx.db, { ...guess, codeHash }))) throw new RejectedCode('expired')
    return null
  }
  const joins = channel === 'email' && (await hasJoinDomains(ctx))
  return ctx.db.transaction(async (tx) => {
    const redeemed = await redeemPasscode(tx, { ...guess, userId, codeHash })
    if (!redeemed) throw new RejectedCode('expired')
    const proven = createCtx(userId)
    const user = await verifyOwnAddress(tx, proven, redeemed, channel, now)
    if (joins) await joinByDomain(tx, proven, { userId, emailKey: key })
    return finish(tx, proven, user)
  })
}

/** A user whose address is proven, and the session of the browser with its new token. */
export type SignedInUser = { userId: string; session: SessionRow; token: string }
/** A user whose address is proven, and who presents a second factor next: there is no session yet. */
export type ProvenOwner = { userId: string; proof: SessionProof; token: null }
/** Whether a second factor follows a proof with these methods (RFC 8176). */
export type NeedsSecondFactor = (user: Pick<User, 'roles' | 'hasSecondFactor'>, amr: string[]) => boolean

/** For whom and where a user signs in, and the sessions of the browser. */
export type SignInContext = SignInPasscodeRequest & {
  present?: readonly PresentSession[]
  needsSecondFactor?: NeedsSecondFactor
  /** How many codes of this sign-in were counted in the limits. */
  codes?: number
}

/**
 * Verifies the code of a hosted page and, in the same transaction, raises the user's session among those of
 * the browser, or starts one, unless a second factor follows. `ctx` is the context of the request. `token` is
 * the value of the cookie. Returns null when the address is proven and has no user: it may sign up. Throws
 * RejectedCode, and RateLimited for the budget of the network.
 */
export async function verifySignInPasscode(
  ctx: Ctx,
  to: string,
  code: string,
  { clientId, origin, present = [], needsSecondFactor = () => false, codes }: SignInContext,
): Promise<SignedInUser | ProvenOwner | null> {
  const now = new Date()
  const address = parseAddress(to)
  if (!address) throw new InvalidInput([{ field: 'to', description: 'must be an e-mail address' }])
  await limitUnauthenticated('authenticatePasscode', ctx, { isKnown: isKnownBrowser(origin) })
  const by = (userId: string) => toUserCtx(ctx, { userId, clientId })
  const entered = { address, ...origin, clientId }
  const signedIn = await redeemWithAttempt(ctx, entered, code, now, by, (tx, ctx, user) =>
    proveAddress(tx, ctx, { user, channel: address.channel, present, needsSecondFactor }, now),
  )
  await returnProvenCode(ctx.tenant, ctx.ip, { origin, address, codes })
  return signedIn
}

/** The user of a proven address, and the sessions of the browser. */
type AddressOwner = {
  user: Pick<User, 'id' | 'roles' | 'hasSecondFactor'>
  channel: Channel
  present: readonly PresentSession[]
}

/**
 * Signs in a user whose address is proven, inside the caller's transaction, which has locked the user. Throws
 * UserLocked.
 */
export async function signInByAddress(
  tx: Tx,
  ctx: Ctx,
  { user, channel, present }: AddressOwner,
  now: Date,
): Promise<SignedInUser> {
  const signIn = { userId: user.id, proof: createProof(channel), present }
  return { userId: user.id, ...(await enterBrowserSession(tx, ctx, signIn, now)) }
}

/** Starts the session of a proven address, unless a second factor follows. */
export async function proveAddress(
  tx: Tx,
  ctx: Ctx,
  { needsSecondFactor, ...owner }: AddressOwner & { needsSecondFactor: NeedsSecondFactor },
  now: Date,
): Promise<SignedInUser | ProvenOwner> {
  const proof = createProof(owner.channel)
  if (!needsSecondFactor(owner.user, proof.amr)) return signInByAddress(tx, ctx, owner, now)
  return { userId: owner.user.id, proof: toSessionProof(proof, now), token: null }
}
