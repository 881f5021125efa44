import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import * as z from 'zod'
import type { Ctx } from '../../context/context.ts'
import { equalsConstantTime, sha256 } from '../../core/crypto.ts'
import { env } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { InvalidCredential } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { addSeconds } from '../../core/time.ts'
import type { Tx } from '../../database/handle.ts'
import type { SignInFailure } from '../../events/reasons.ts'
import { requiredText } from '../../schema/input-shapes.ts'
import { type PasskeyUse, recordPasskeyUse, type StoredPasskey } from './passkeys.sql.ts'
import { CEREMONY_TIMEOUT_MS, deriveUserHandle, RP_ID } from './relying-party.ts'

/** The members of AuthenticationResponseJSON that are read (WebAuthn Level 3, section 5.1). */
const PasskeyAssertion = z.object({
  id: requiredText(2000),
  rawId: requiredText(2000),
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: requiredText(5000),
    authenticatorData: requiredText(5000),
    signature: requiredText(5000),
    userHandle: requiredText(200).nullish(),
  }),
})
export type PasskeyAssertion = z.output<typeof PasskeyAssertion>

/**
 * Why a passkey was not accepted, for the event log: `rejected` is a response that does not verify, `eligibility` one of a
 * passkey whose backup eligibility has changed.
 */
export type PasskeyProblem = Extract<
  SignInFailure,
  'unknown' | 'locked' | 'rejected' | 'cloned' | 'eligibility'
>

/** A passkey whose backup eligibility has changed, and its user. */
export type ChangedPasskey = { id: string; userId: string }

/** The error of a passkey that is not accepted. Its message is the same for every reason. */
export class RejectedPasskey extends InvalidCredential {
  readonly problem: PasskeyProblem
  readonly userId: string | null
  /** The credential id of a passkey that is not stored. */
  readonly unknownId: string | null
  /** The passkey whose response verified, but which the user has to replace. */
  readonly changed: ChangedPasskey | null

  constructor(
    problem: PasskeyProblem,
    { userId, unknownId, changed }: { userId?: string; unknownId?: string; changed?: ChangedPasskey } = {},
  ) {
    super('The passkey was not accepted.')
    this.name = 'InvalidCredential'
    this.problem = problem
    this.userId = userId ?? null
    this.unknownId = unknownId ?? null
    this.changed = changed ?? null
  }
}

/** Options for navigator.credentials.get: any passkey of this RP ID, with user verification. */
export const buildPasskeyOptions = (challenge: string) => ({
  challenge,
  rpId: RP_ID,
  timeout: CEREMONY_TIMEOUT_MS,
})

/** A passkey whose assertion was verified. `amr` has the methods of RFC 8176, section 2. */
export type ProvenPasskey = {
  id: string
  userId: string
  amr: string[]
  signCount: number
  /** The counter of the last use, if this one is not above it. */
  formerSignCount: number | null
  backedUp: boolean
  backupEligible: boolean
  challenge: string
}

/** Parses the JSON of an authentication response. Throws RejectedPasskey. */
export function parseAssertion(text: string): PasskeyAssertion {
  try {
    return PasskeyAssertion.parse(JSON.parse(text))
  } catch {
    throw new RejectedPasskey('rejected')
  }
}

async function verifyAssertion(
  assertion: PasskeyAssertion,
  { userId, publicKey }: StoredPasskey,
  challenge: string,
) {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server') // loaded on first use
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...assertion, clientExtensionResults: {} } as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: env.baseUrl,
      expectedRPID: RP_ID,
      requireUserVerification: true,
      credential: {
        id: assertion.id,
        publicKey: new Uint8Array(Buffer.from(publicKey ?? '', 'base64url')),
        // Compared below, where the reason is known.
        counter: 0,
      },
    })
    if (verified) return authenticationInfo
  } catch (error) {
    log.info({ reason: errorMessage(error).slice(0, 200) }, 'a passkey was rejected')
  }
  throw new RejectedPasskey('rejected', { userId })
}

/** The authentication methods of a passkey (RFC 8176): in software if it may be backed up. It verifies the user. */
export const selectPasskeyAmr = (isBackupEligible: boolean): string[] => [
  isBackupEligible ? 'swk' : 'hwk',
  'user',
  'mfa',
]

/** An imported passkey keeps the user handle that it was created with. */
const isExpectedHandle = (
  tenant: string,
  { userId, userHandle }: StoredPasskey,
  handle: string | null | undefined,
): boolean =>
  !handle ||
  equalsConstantTime(
    Buffer.from(handle, 'base64url'),
    userHandle === null
      ? Buffer.from(deriveUserHandle(tenant, userId))
      : Buffer.from(userHandle, 'base64url'),
  )

/**
 * Verifies an authentication response (WebAuthn Level 3, section 7.2) to a challenge. `stored` is the passkey that
 * has the credential id of the response, or null. Throws RejectedPasskey.
 */
export async function verifyPasskey(
  tenant: string,
  assertion: PasskeyAssertion,
  stored: StoredPasskey | null,
  challenge: string,
): Promise<ProvenPasskey> {
  if (!stored) throw new RejectedPasskey('unknown', { unknownId: assertion.id })
  const { id, userId } = stored
  const info = await verifyAssertion(assertion, stored, challenge)
  const backupEligible = info.credentialDeviceType === 'multiDevice'
  if (!isExpectedHandle(tenant, stored, assertion.response.userHandle))
    throw new RejectedPasskey('rejected', { userId })
  // Section 6.1.3: a credential is eligible from its creation or never.
  if (stored.backupEligible !== null && stored.backupEligible !== backupEligible)
    throw new RejectedPasskey('eligibility', { userId, changed: { id, userId } })
  const signCount = Number(stored.signCount)
  const isDecreased = (info.newCounter > 0 || signCount > 0) && info.newCounter <= signCount
  // Devices that share a passkey may count on their own.
  if (isDecreased && !backupEligible) throw new RejectedPasskey('cloned', { userId })
  if (stored.locked) throw new RejectedPasskey('locked', { userId })
  return {
    id,
    userId,
    amr: selectPasskeyAmr(backupEligible),
    signCount: info.newCounter,
    formerSignCount: isDecreased ? signCount : null,
    backupEligible,
    backedUp: info.credentialBackedUp,
    challenge,
  }
}

/** The values with which the use of a verified passkey is recorded. */
export const toPasskeyUse = (
  ctx: Ctx,
  { id, challenge, signCount, backedUp, backupEligible }: ProvenPasskey,
  now: Date,
): PasskeyUse => ({
  id,
  signCount,
  backedUp,
  backupEligible,
  proofHash: sha256(JSON.stringify(['passkey', challenge])),
  // A challenge is issued for an interaction, which lives for an hour.
  proofExpiresAt: addSeconds(now, 2 * 3600),
  ip: ctx.ip,
  now,
})

/**
 * Records the use of a verified passkey, in the transaction of the sign-in. Throws RejectedPasskey when its
 * challenge was used before, or the passkey was deleted or used with a higher counter since.
 */
export async function usePasskey(tx: Tx, ctx: Ctx, proven: ProvenPasskey, now: Date): Promise<void> {
  const isUsed = await recordPasskeyUse(tx, toPasskeyUse(ctx, proven, now))
  if (!isUsed) throw new RejectedPasskey('rejected', { userId: proven.userId })
}
