import { buildRegistrationOptions, selectAccountLabel } from '../../../credentials/passkeys/registration.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import { renderComponent } from '../../../pages/responses.http.ts'
import type { PageView, SignInMethod } from '../step/sign-in-method.http.ts'
import { redirectToPage } from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { handlePasskeyCreation, toCreationOptions } from './passkey-creation.http.ts'
import { PasskeyOfferPage } from './passkey-creation.pages.tsx'
import {
  createOfferedPasskey,
  declinePasskey,
  deriveOfferChallenge,
  findOfferedUser,
  findReplacedPasskey,
  openUsefulOffer,
} from './passkey-offer.ts'
import { describePasskeyRejection } from './passkey-rejection-texts.ts'
import { findPasskeySignal } from './passkey-signal.ts'

/** The offer of a passkey after a sign-in by another method. */
export const PASSKEY_OFFER = {
  name: 'passkey',
  isOpen: (signIn) => openUsefulOffer(signIn),
  render: renderPasskeyOffer,
  forms: { 'create-passkey': handleCreation, later: handleLater },
} as const satisfies SignInMethod['finalPage']

/**
 * The sign-in, with what the script of the first page says about the browser (`platform=1` in each form). The
 * next form that saves the progress stores it.
 */
export function readBrowserAbilities(signIn: SignInStep, form: Record<string, string>): SignInStep {
  if (form.platform !== '1') return signIn
  const { interaction } = signIn
  return {
    ...signIn,
    interaction: { ...interaction, progress: { ...interaction.progress, canCreatePasskey: true } },
  }
}

/** Renders the offer, which is open. */
async function renderPasskeyOffer(
  signIn: SignInStep,
  { common, rejection, options }: PageView,
): Promise<Response> {
  const { call, interaction } = signIn
  const { tenant } = call.ctx
  const user = findOfferedUser(signIn)
  if (!user) throw new Error('no passkey is offered')
  const challenge = deriveOfferChallenge(tenant, interaction, user)
  const props = {
    ...common,
    label: selectAccountLabel(user),
    isReplacement: findReplacedPasskey(signIn) !== null,
    options: await buildRegistrationOptions(tenant, { user, challenge, credentials: [] }),
    error: rejection && describePasskeyRejection(getRequestWords(signIn.call.ctx), rejection),
    accepted: await findPasskeySignal(signIn),
  }
  return renderComponent(call.ctx, PasskeyOfferPage, props, toCreationOptions(options))
}

async function handleCreation(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const user = findOfferedUser(signIn)
  if (!user) return redirectToPage(signIn)
  return handlePasskeyCreation(signIn, form, 'passkey', async (created) => {
    await createOfferedPasskey(signIn, user, created)
    return []
  })
}

async function handleLater(signIn: SignInStep): Promise<Response> {
  const { call, interaction } = signIn
  const user = findOfferedUser(signIn)
  if (user) await declinePasskey(call.ctx, interaction, user)
  return redirectToPage(signIn)
}
