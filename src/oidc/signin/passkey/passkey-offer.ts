import { type Ctx, toUserCtx } from '../../../context/context.ts'
import { takeAnnouncedChange } from '../../../coordination/person-budgets.ts'
import { computeMac } from '../../../core/crypto.ts'
import { addSeconds } from '../../../core/time.ts'
import type { Device } from '../../../credentials/credentials.fields.ts'
import { deleteCredential } from '../../../credentials/credentials.ts'
import { insertPasskey } from '../../../credentials/passkeys/insert-passkey.ts'
import type { ChangedPasskey } from '../../../credentials/passkeys/passkeys.ts'
import { parseRegistration, verifyRegistration } from '../../../credentials/passkeys/registration.ts'
import { announceAccountChange } from '../../../users/deletion/account-notices.ts'
import { lockUserRow } from '../../../users/lock-user.sql.ts'
import type { SignInState } from '../../authorize/sign-in-state.sql.ts'
import { hashHandle, type Interaction } from '../../interactions/interactions.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { closePasskeyOffer, openPasskeyOffer } from './passkey-offer.sql.ts'

declare module '../../interactions/progress.ts' {
  interface SignInPages {
    passkey: true
  }
  interface Progress {
    /** The browser can create passkeys on its device, says the script of the first page. */
    canCreatePasskey?: boolean
    /** The session whose user is offered to create a passkey. */
    passkeyOfferedIn?: string
  }
}

/** A passkey that the browser created: the response of its API, as JSON, and its device. */
export type CreatedPasskey = { registration: string; device: Device }

/** A user who declines is not asked again for this time. */
const OFFER_INTERVAL_SECONDS = 30 * 86_400

/** The signed-in user, if the offer of this interaction is open for them. */
export const findOfferedUser = ({ interaction, authorization }: SignInStep): SignInState | null => {
  const { signInState: state, next } = authorization
  const isOpen = next.step === 'issue' && interaction.progress.passkeyOfferedIn === state?.id
  return isOpen ? state : null
}

/**
 * The passkey of the signed-in user that was rejected in this interaction although its response verified: the user
 * replaces it.
 */
export function findReplacedPasskey({ interaction, authorization }: SignInStep): ChangedPasskey | null {
  const { changedPasskey: changed } = interaction.progress
  return changed && changed.userId === authorization.signInState?.userId ? changed : null
}

/**
 * Whether an offer is useful: the user has signed in for this request, by another method, in a browser that can
 * create a passkey on its device. A user of a device (RFC 8628) looks at another screen, which waits. A passkey that is
 * to be replaced is asked about in any case.
 */
function canOffer(signIn: SignInStep, since: Date): boolean {
  const { call, interaction, authorization } = signIn
  const { tenant } = call
  const { request, progress } = interaction
  const { signInState: state } = authorization
  const isPossible =
    tenant.signInMethods.includes('passkey') &&
    progress.canCreatePasskey === true &&
    request.responseMode !== 'device' &&
    state !== null &&
    progress.sessionId === state.id
  if (!isPossible || findReplacedPasskey(signIn)) return isPossible
  return (
    tenant.offerPasskey &&
    !state.proofs.some(({ method }) => method === 'passkey') &&
    (state.passkeyOfferedAt === null || state.passkeyOfferedAt < since)
  )
}

/**
 * Opens the offer of a passkey to the user before the request is answered, once in 30 days for a user. True when it is
 * open. One statement if it may be useful, none otherwise.
 */
export async function openUsefulOffer(signIn: SignInStep): Promise<boolean> {
  const now = new Date()
  if (findOfferedUser(signIn)) return true
  const since = addSeconds(now, -OFFER_INTERVAL_SECONDS)
  const { call, interaction, authorization } = signIn
  if (!authorization.signInState || !canOffer(signIn, since)) return false
  const { id: sessionId, userId } = authorization.signInState
  const handleHash = hashHandle(interaction)
  const replacedId = findReplacedPasskey(signIn)?.id ?? null
  const offer = { handleHash, userId, sessionId, replacedId, since, now }
  const isOpened = await openPasskeyOffer(call.ctx.db, offer)
  if (isOpened) interaction.progress.passkeyOfferedIn = sessionId
  return isOpened
}

/** The challenge of the offer: a MAC over the secrets of the interaction and the session. It takes no row. */
export const deriveOfferChallenge = (
  tenant: string,
  { handle, key }: Interaction,
  { id }: SignInState,
): string => computeMac('passkey-offer', [tenant, handle, key, id].join('\n')).toString('base64url')

/** Continues without a passkey. */
export const declinePasskey = (ctx: Ctx, interaction: Interaction, { id }: SignInState): Promise<boolean> =>
  closePasskeyOffer(ctx.db, { handleHash: hashHandle(interaction), sessionId: id })

/**
 * Stores the passkey that the browser created for the offer, given as JSON, and closes the offer. Stores nothing
 * when the offer was closed before. The passkey that it replaces is deleted. Throws
 * InvalidInput, RateLimited, and Conflict when the passkey is registered.
 */
export async function createOfferedPasskey(
  signIn: SignInStep,
  state: SignInState,
  { registration, device }: CreatedPasskey,
): Promise<void> {
  const now = new Date()
  const { interaction } = signIn
  const { ctx } = signIn.call
  const replaced = findReplacedPasskey(signIn)
  const { userId } = state
  const { clientId } = interaction.request
  takeAnnouncedChange(ctx.tenant, { userId, grantId: null })
  const passkey = await verifyRegistration(
    parseRegistration(registration),
    deriveOfferChallenge(ctx.tenant, interaction, state),
  )
  const userCtx = toUserCtx(ctx, { userId, clientId, sessionId: state.id })
  const { isStored, isReplaced } = await ctx.db.transaction(async (tx) => {
    const offer = { handleHash: hashHandle(interaction), sessionId: state.id }
    const isOpen = await closePasskeyOffer(tx, offer)
    const user = isOpen ? await lockUserRow(tx, userId) : null
    const made = { passkey, userId, device, byManagement: false }
    const isStored = user?.locked === false && (await insertPasskey(tx, userCtx, made, now))
    if (!isStored || !replaced) return { isStored, isReplaced: false }
    const isReplaced = await deleteCredential(tx, userCtx, { ...replaced, type: 'public-key' })
    return { isStored, isReplaced }
  })
  if (isStored) announceAccountChange(userCtx, userId, 'public-key-added', now)
  if (isReplaced) announceAccountChange(userCtx, userId, 'public-key-removed', now)
}
