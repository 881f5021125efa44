import { InvalidInput } from '../../../core/errors.ts'
import { lookUpCountry } from '../../../core/network/ip-location.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import type { Words } from '../../../languages/translations.ts'
import type { Channel } from '../../../model/sign-in-methods.ts'
import { createPart } from '../../../pages/parts/page-part.pages.tsx'
import { renderComponent } from '../../../pages/responses.http.ts'
import { type PasscodeAddress, parseAddress } from '../../../passcodes/passcodes.fields.ts'
import { RejectedCode } from '../../../passcodes/rejected-code.ts'
import { canAddressSignUp, hasSignUp, listEntryChannels } from '../../../passcodes/sign-up-policy.ts'
import { type Country, isCountry } from '../../../schema/phone-numbers.ts'
import { selectExpectedAddress } from '../../authorize/evaluate-request.ts'
import type { InputRejection } from '../../interactions/progress.ts'
import { addAccountCookies } from '../step/added-account.http.ts'
import { describeAddressEntry, describeInvalidAddress, formatAddress } from '../step/address-texts.ts'
import { describeInputRejection, toAttemptsRejection } from '../step/input-rejection-texts.ts'
import { offersMethod } from '../step/offered-methods.ts'
import type { PageView, SignInMethod } from '../step/sign-in-method.http.ts'
import {
  buildPagePath,
  buildProofCookie,
  readCookies,
  redirectToPage,
  rejectInput,
} from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { AddressEntry } from './address-entry.pages.tsx'
import { CodePage } from './code.pages.tsx'
import {
  buildKnownBrowserCookies,
  clearAddress,
  computeResendAllowedAt,
  requestSignInCode,
  signInByPasscode,
} from './passcode-sign-in.ts'

/** A code that is sent to an e-mail address or a phone number. */
export const PASSCODE_METHOD: SignInMethod = {
  forms: { email: handleAddress, code: handleCode, resend: resendCode, restart: restartSignIn },
  firstForm: { step: 'email', stayRank: 1 },
  pages: { code: { isOpen: hasAddress, render: renderCodePage } },
  renderEntry: (signIn, { form, rejection, stay }) => {
    const { progress, request } = signIn.interaction
    const channels = listAskedChannels(signIn)
    const isCreation = request.prompt.includes('create')
    const expected = progress.isAnother
      ? null
      : isCreation
        ? request.loginHint
        : selectExpectedAddress(request, signIn.authorization.signInState, channels)
    const address = progress.address ?? expected
    const words = getRequestWords(signIn.call.ctx)
    return createPart(AddressEntry, {
      interaction: form,
      channels,
      stay,
      hint: describeAddressEntry(signIn.call.tenant, isCreation, words),
      address: rejection?.entered ?? (address && formatAddress(address)),
      error: rejection && describeRejection(words, rejection, channels),
    })
  },
}

const describeRejection = (words: Words, rejection: InputRejection, channels: readonly Channel[]): string =>
  rejection.reason === 'address'
    ? describeInvalidAddress(words, channels, rejection.entered)
    : describeInputRejection(words, rejection)

/** A code can be entered: it was requested, or the user came back to the page. */
function hasAddress({ interaction }: SignInStep): boolean {
  return interaction.progress.address !== undefined
}

function renderCodePage(signIn: SignInStep, { common, rejection, options }: PageView): Response {
  const { call, interaction } = signIn
  const { progress } = interaction
  return renderComponent(
    call.ctx,
    CodePage,
    {
      ...common,
      error: rejection && describeInputRejection(getRequestWords(call.ctx), rejection),
      address: progress.address ?? '',
      isSent: canAddressSignUp(call.tenant, progress.address ?? ''),
      isResent: progress.isResent,
      isUsedUp: rejection?.reason === 'expired' || rejection?.reason === 'exhausted',
      offersSignUp: hasSignUp(call.tenant),
      digits: progress.digits,
      resendAllowedAt: computeResendAllowedAt(progress),
      passwordPath: offersMethod(signIn, 'password') ? buildPagePath(signIn, 'password') : null,
      offersOtherWay: rejection?.reason === 'attempts' && call.tenant.signInMethods.length > 1,
    },
    // The submission of a complete code, and the countdown to a new one.
    { ...options, runsScript: true },
  )
}

/** The channels of the addresses that the first page asks for. */
const listAskedChannels = ({ call, interaction }: SignInStep) =>
  listEntryChannels(call.tenant, interaction.request.prompt.includes('create'))

/** The address that an input means, if the page asks for its channel: a phone number may be in national form. */
function readAddress(signIn: SignInStep, entered: string): PasscodeAddress | null {
  const address = parseAddress(entered, listNumberCountries(signIn))
  return address && listAskedChannels(signIn).includes(address.channel) ? address : null
}

/** Converts an error of a rejected input; rethrows any other error. */
function toInputRejection(error: unknown): Pick<InputRejection, 'reason' | 'retryAt'> {
  if (error instanceof RejectedCode) return { reason: error.problem }
  // The address was valid.
  if (error instanceof InvalidInput) return { reason: 'country' }
  return toAttemptsRejection(error)
}

async function sendCode(
  signIn: SignInStep,
  entered: string,
  page: InputRejection['page'],
): Promise<Response> {
  const address = readAddress(signIn, entered)
  if (!address) return rejectInput(signIn, { page: 'email', reason: 'address', entered })
  try {
    await requestSignInCode(signIn.call.ctx, signIn.interaction, address.shown, readCookies(signIn))
  } catch (error) {
    return rejectInput(signIn, {
      page,
      ...toInputRejection(error),
      ...(page === 'email' && { entered }),
    })
  }
  return redirectToPage(signIn, 'code')
}

async function handleAddress(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  return sendCode(signIn, (form.address ?? '').trim(), 'email')
}

async function resendCode(signIn: SignInStep): Promise<Response> {
  const { address } = signIn.interaction.progress
  return address ? sendCode(signIn, address, 'code') : redirectToPage(signIn)
}

async function restartSignIn(signIn: SignInStep): Promise<Response> {
  await clearAddress(signIn.call.ctx, signIn.interaction)
  return redirectToPage(signIn)
}

async function handleCode(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const { ctx } = signIn.call
  const { address } = signIn.interaction.progress
  if (!address) return redirectToPage(signIn)
  let proven: Awaited<ReturnType<typeof signInByPasscode>>
  try {
    proven = await signInByPasscode(signIn, form.code ?? '')
  } catch (error) {
    return rejectInput(signIn, { page: 'code', ...toInputRejection(error) })
  }
  if (proven === null) return redirectToPage(signIn, 'create', [buildProofCookie(signIn)])
  return redirectToPage(signIn, 'email', [
    ...addAccountCookies(signIn, proven.entered),
    ...buildKnownBrowserCookies(ctx.tenant, address, readCookies(signIn)),
  ])
}

/** The longest Accept-Language of which the regions are read. */
const MAX_CHARACTERS = 1000

/** The region of a language tag (RFC 5646, section 2.2.4): CH of de-Latn-CH or de_CH. */
const REGION = /^[A-Za-z]{2,8}(?:[-_][A-Za-z]{3}){0,3}(?:[-_][A-Za-z]{4})?[-_]([A-Za-z]{2})(?:[-_]|$)/

/** The regions of language tags, such as those of Accept-Language with their weights, in their order. */
export const listRegions = (languages: string): string[] =>
  languages
    .slice(0, MAX_CHARACTERS)
    .split(/[\s,]+/)
    .flatMap((tag) => REGION.exec(tag.split(';')[0] ?? '')?.[1]?.toUpperCase() ?? [])

/**
 * The countries in which a phone number without country code may be, the likeliest first: that of the network
 * (GEOIP_DB), those of `ui_locales` and Accept-Language, that of the tenant.
 */
function listNumberCountries({ call, interaction }: SignInStep): Country[] {
  const { ctx, event, tenant } = call
  const countries = [
    lookUpCountry(ctx.ip),
    ...listRegions(interaction.request.uiLocales.join(' ')),
    ...listRegions(event.req.headers.get('accept-language') ?? ''),
    tenant.phoneCountry,
  ]
  return [...new Set(countries)].filter((country) => country !== null).filter(isCountry)
}
