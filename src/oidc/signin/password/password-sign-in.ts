import { type Ctx, toUserCtx } from '../../../context/context.ts'
import { returnToNetwork } from '../../../coordination/rate-limits.ts'
import { RateLimited } from '../../../core/errors.ts'
import { toNetwork } from '../../../core/network/ip.ts'
import { hashAddress } from '../../../events/address-hash.ts'
import { createEvent } from '../../../events/create-event.ts'
import { recordEvents } from '../../../events/log.ts'
import type { SignInFailure } from '../../../events/reasons.ts'
import { withRoomForComparison } from '../../../old-passwords/compare-password.ts'
import {
  type MatchedPassword,
  matchOldPassword,
  takeOldPassword,
} from '../../../old-passwords/old-passwords.ts'
import { limitUnauthenticated } from '../../../passcodes/network-limits.ts'
import { type PasscodeAddress, parseAddress } from '../../../passcodes/passcodes.fields.ts'
import { countPasswordGuess, lockAddressOwner } from '../../../passcodes/password-guesses.sql.ts'
import { AMR_PASSWORD } from '../../../sessions/acr.ts'
import { type NewProof, toSessionProof } from '../../../sessions/proofs.ts'
import { enterBrowserSession } from '../../../sessions/sessions.ts'
import { createSecondFactorRule, recordProof, type SignedIn } from '../step/sign-in.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'

declare module '../../interactions/progress.ts' {
  interface SignInPages {
    password: true
  }
}

/** Longer texts are no passwords that were hashed. */
const MAX_PASSWORD_CHARS = 1000
/** Until guesses at an address are counted anew. */
const GUESS_WINDOW_SECONDS = 86_400
const PROOF: NewProof = { method: 'password', amr: [AMR_PASSWORD] }

/** A password that was not accepted. The page does not say why; the reason is recorded. */
export class RejectedPassword extends Error {}

/** A user who has proven the account, with a session, or with a second factor that follows. */
type Proven = Parameters<typeof recordProof>[2]

/** Takes the password of a user, once, and signs in by it. Null when the user cannot, or when it was used meanwhile. */
const enterByPassword = (
  { call, interaction, authorization }: SignInStep,
  userId: string,
  address: PasscodeAddress,
  matched: MatchedPassword,
  now: Date,
): Promise<Proven | null> =>
  call.ctx.db.transaction(async (tx): Promise<Proven | null> => {
    const { clientId } = interaction.request
    const userCtx = toUserCtx(call.ctx, { userId, clientId })
    // The user's row first, as in a lock of the user.
    const user = await lockAddressOwner(tx, userId, { ...address, now })
    if (!user || !(await takeOldPassword(tx, userId, matched, now))) return null
    await recordEvents(tx, userCtx, [
      createEvent('credential.migrated', { userId, clientId }, { algorithm: matched.algorithm }),
    ])
    const needsSecondFactor = createSecondFactorRule({ interaction, authorization })
    if (needsSecondFactor(user, PROOF.amr)) return { userId, proof: toSessionProof(PROOF, now), token: null }
    const signIn = { userId, proof: PROOF, present: authorization.accounts }
    const entered: SignedIn = { userId, ...(await enterBrowserSession(tx, userCtx, signIn, now)) }
    return entered
  })

/** Records why a password was not accepted. Also for an address without a user, so that the time says nothing. */
async function rejectPassword(
  ctx: Ctx,
  { userId, clientId, address }: { userId: string | null; clientId: string; address: PasscodeAddress },
  reason: SignInFailure,
): Promise<never> {
  await recordEvents(ctx.db, ctx, [
    createEvent(
      'signin.failed',
      { userId, clientId, addressHash: hashAddress(ctx.tenant, address.key) },
      { method: 'password', channel: address.channel, reason },
    ),
  ])
  throw new RejectedPassword()
}

/**
 * Signs in by the password of the system that the user was imported from, which is deleted by that. Returns the account
 * with the token of its session, always a new one; none when a second factor follows. Throws RejectedPassword and
 * RateLimited.
 */
export async function signInByPassword(signIn: SignInStep, password: string): Promise<EnteredAccount | null> {
  const now = new Date()
  const { call, interaction, authorization } = signIn
  const { ctx } = call
  const { clientId } = interaction.request
  const address = parseAddress(interaction.progress.address ?? '')
  if (!address) throw new RejectedPassword()
  const { ownerId, ownerLocked, ownerSignsIn, userId, matched } = await withRoomForComparison(
    ctx.tenant,
    async () => {
      await limitUnauthenticated('enterPassword', ctx)
      const guess = await countPasswordGuess(ctx.db, { ...address, now })
      if (!guess.isCounted) throw new RateLimited(GUESS_WINDOW_SECONDS)
      const userId = guess.ownerLocked === false && guess.ownerSignsIn ? guess.ownerId : null
      const entered = password.slice(0, MAX_PASSWORD_CHARS)
      const matched = await matchOldPassword(ctx, { userId, address: address.key }, entered)
      return { ...guess, userId, matched }
    },
  )
  const proven = matched && userId ? await enterByPassword(signIn, userId, address, matched, now) : null
  if (!proven) {
    const reason =
      ownerId === null ? 'unknown' : ownerLocked ? 'locked' : ownerSignsIn ? 'wrong' : 'unverified'
    return rejectPassword(ctx, { userId: ownerId, clientId, address }, reason)
  }
  await returnToNetwork('enterPassword', ctx.tenant, toNetwork(ctx.ip))
  return recordProof(ctx, interaction, proven, authorization.accounts)
}
