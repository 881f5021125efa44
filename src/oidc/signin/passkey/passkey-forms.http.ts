import { buildPasskeyOptions, RejectedPasskey } from '../../../credentials/passkeys/passkeys.ts'
import { localizeClient } from '../../../languages/localize-client.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import { prepareAnswer } from '../../../pages/form-answers.ts'
import { createPart } from '../../../pages/parts/page-part.pages.tsx'
import { sendAuthorizationResponse } from '../../authorize/response-modes.http.ts'
import type { InputRejection } from '../../interactions/progress.ts'
import { addAccountCookies, announceBrowser, buildAddedAccountCookies } from '../step/added-account.http.ts'
import { toAttemptsRejection } from '../step/input-rejection-texts.ts'
import { offersOtherMethod } from '../step/offered-methods.ts'
import { answerFormOnce } from '../step/repeated-forms.http.ts'
import type { SignInMethod } from '../step/sign-in-method.http.ts'
import { redirectToPage, rejectInput } from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { PasskeyEntry } from './passkey-entry.pages.tsx'
import { PASSKEY_OFFER, readBrowserAbilities } from './passkey-offer-forms.http.ts'
import { describePasskeyRejection, isPasskeyRejection } from './passkey-rejection-texts.ts'
import { continueByPasskey, deriveChallenge, presentPasskey } from './passkey-sign-in.ts'

/** A passkey: a discoverable credential of WebAuthn that the user unlocks on the device. */
export const PASSKEY_METHOD: SignInMethod = {
  forms: { passkey: handlePasskey },
  // One statement signs in and keeps the response.
  claimsItself: ['passkey'],
  firstForm: { step: 'passkey', stayRank: 3 },
  finalPage: PASSKEY_OFFER,
  readForm: readBrowserAbilities,
  ownsRejection: isPasskeyRejection,
  renderEntry: (signIn, { form, rejection, stay }) =>
    createPart(PasskeyEntry, {
      interaction: form,
      options: buildPasskeyOptions(deriveChallenge(signIn.call.ctx.tenant, signIn.interaction)),
      isOnly: isSecondFactor(signIn) || !offersOtherMethod(signIn, 'passkey'),
      demand: isSecondFactor(signIn) ? null : describeDemand(signIn),
      error: rejection && describePasskeyRejection(getRequestWords(signIn.call.ctx), rejection),
      unknownPasskey: rejection?.unknownPasskey,
      stay,
    }),
}

const describeDemand = ({ call: { ctx, tenant }, authorization: { client } }: SignInStep) => ({
  tenant,
  client: localizeClient(client, getRequestWords(ctx).language),
  hasOtherWays: tenant.signInMethods.some((name) => name !== 'passkey'),
})

/** Whether the passkey is presented after a first proof, instead of a second factor. */
const isSecondFactor = ({ authorization }: SignInStep): boolean => authorization.next.step === 'second-factor'

function toInputRejection(signIn: SignInStep, error: unknown): InputRejection {
  const page = isSecondFactor(signIn) ? 'second-factor' : 'email'
  if (error instanceof RejectedPasskey && error.changed && page === 'email')
    return { page, reason: 'passkeyChanged' }
  if (error instanceof RejectedPasskey)
    return { page, reason: 'passkey', unknownPasskey: error.unknownId ?? undefined }
  return { page, ...toAttemptsRejection(error) }
}

async function handlePasskey(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const { sent } = signIn
  if (!sent) throw new Error('no form was sent')
  const presented = await presentPasskey(signIn, form.assertion ?? '', async (entered, answer) => {
    const cookies = buildAddedAccountCookies(signIn, entered)
    return prepareAnswer(sent, await sendAuthorizationResponse(signIn.call.ctx, answer, cookies))
  })
  if ('response' in presented) {
    announceBrowser(signIn, presented.entered)
    return presented.response
  }
  return answerFormOnce(sent, async () => {
    try {
      const entered = await continueByPasskey(signIn, presented)
      return redirectToPage(signIn, 'email', addAccountCookies(signIn, entered))
    } catch (error) {
      return rejectInput(signIn, toInputRejection(signIn, error))
    }
  })
}
