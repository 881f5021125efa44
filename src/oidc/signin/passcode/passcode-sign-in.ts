import type { Ctx } from '../../../context/context.ts'
import { addSeconds } from '../../../core/time.ts'
import { buildKnownCookies, findKnownBrowserId } from '../../../pages/known-browser-cookies.ts'
import { SEND_COOLDOWN_SECONDS } from '../../../passcodes/passcode-budgets.sql.ts'
import { isKnownBrowser, type PasscodeOrigin, toSignInOrigin } from '../../../passcodes/passcode-origin.ts'
import { parseAddress } from '../../../passcodes/passcodes.fields.ts'
import { verifySignInPasscode } from '../../../passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../../passcodes/send-passcode.ts'
import {
  hashHandle,
  type Interaction,
  saveInteraction,
  saveProvenInteraction,
} from '../../interactions/interactions.ts'
import type { Progress } from '../../interactions/progress.ts'
import { createSecondFactorRule, recordProof } from '../step/sign-in.ts'
import type { EnteredAccount, SignInStep } from '../step/sign-in-step.ts'

/** The id of this browser if the address has signed in in it; null otherwise. */
function findKnownBrowser(tenant: string, to: string, cookies: string | null): string | null {
  const address = parseAddress(to)
  return address && findKnownBrowserId(tenant, address.key, cookies)
}

/** Set-Cookie values that mark the browser as known to the address that signed in; the oldest may end. */
export function buildKnownBrowserCookies(tenant: string, to: string, cookies: string | null): string[] {
  const address = parseAddress(to)
  return address ? buildKnownCookies(tenant, address.key, cookies) : []
}

declare module '../../interactions/progress.ts' {
  interface SignInPages {
    code: true
  }
  interface Progress {
    /** The address to verify, as entered, and when its passcode was requested. */
    address?: string
    sentAt?: string
    /** It replaced an earlier one. */
    isResent?: boolean
    /** Where the passcode is to be entered, and its number of digits. */
    origin?: PasscodeOrigin
    digits?: 6 | 10
    /** How many codes for the address were counted in the limits. */
    codes?: number
  }
}

/** When another code can be requested; null when none was sent. */
export const computeResendAllowedAt = ({ sentAt }: Progress): Date | null =>
  sentAt ? addSeconds(new Date(sentAt), SEND_COOLDOWN_SECONDS) : null

/** Where the code of this sign-in is requested and entered; `cookies` are those of the browser. */
const toOrigin = (ctx: Ctx, interaction: Interaction, address: string, cookies: string | null) =>
  toSignInOrigin(
    hashHandle(interaction).toString('base64url'),
    ctx.ip,
    findKnownBrowser(ctx.tenant, address, cookies),
  )

/** The codes that were counted in the limits for this address in this network: as many are returned to them. */
const countCodes = (progress: Progress, address: string, { network }: PasscodeOrigin): number =>
  progress.address === address && progress.origin?.network === network ? (progress.codes ?? 0) : 0

/** Sends a code to the address and saves the address. Throws InvalidInput, RateLimited and Unavailable. */
export async function requestSignInCode(
  ctx: Ctx,
  interaction: Interaction,
  address: string,
  cookies: string | null,
): Promise<void> {
  const { progress } = interaction
  const isRepeated =
    progress.address === address && (computeResendAllowedAt(progress) ?? new Date(0)) > new Date()
  if (isRepeated) return
  const origin = toOrigin(ctx, interaction, address, cookies)
  const { clientId } = interaction.request
  const sent = await sendSignInPasscode(ctx, address, { clientId, origin })
  const sentAt = new Date().toISOString()
  const { refusal: _, provenAddress: __, ...kept } = progress
  const codes = countCodes(progress, address, origin) + (sent && !isKnownBrowser(origin) ? 1 : 0)
  const isResent = progress.address === address && progress.sentAt !== undefined
  const code = { ...(isResent && { isResent }), origin, codes, ...(sent && { digits: sent.digits }) }
  await saveInteraction(ctx.db, { ...interaction, progress: { ...kept, address, sentAt, ...code } })
}

/** Removes the address, so that another one can be entered. */
export function clearAddress(ctx: Ctx, interaction: Interaction): Promise<boolean> {
  const { pendingLink } = interaction.progress
  const progress = { isAnother: true, ...(pendingLink && { pendingLink }) }
  return saveInteraction(ctx.db, { ...interaction, progress })
}

/**
 * Verifies the passcode of the address and returns the account with the token of its session, always a new one against
 * session fixation. The session continues when its user has signed in again: clients that know it do not have
 * to be signed out (OIDC Core, section 3.1.2.1). The accounts of other users stay. Returns no account when a
 * second factor follows, and null when the address has no user and may sign up; the interaction keeps what was proven.
 * Throws RejectedCode and RateLimited.
 */
export async function signInByPasscode(
  signIn: SignInStep,
  code: string,
): Promise<{ entered: EnteredAccount | null } | null> {
  const { interaction, authorization } = signIn
  const { ctx } = signIn.call
  const { clientId } = interaction.request
  const { address = '', origin = toOrigin(ctx, interaction, address, null), codes } = interaction.progress
  const signedIn = await verifySignInPasscode(ctx, address, code, {
    clientId,
    origin,
    present: authorization.accounts,
    needsSecondFactor: createSecondFactorRule(signIn),
    codes,
  })
  if (!signedIn) {
    const provenAddress = parseAddress(address) ?? undefined
    await saveProvenInteraction(ctx.db, {
      ...interaction,
      progress: { ...interaction.progress, provenAddress },
    })
    return null
  }
  return { entered: await recordProof(ctx, interaction, signedIn, authorization.accounts) }
}
