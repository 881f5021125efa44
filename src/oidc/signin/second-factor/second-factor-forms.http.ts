import { buildRegistrationOptions, selectAccountLabel } from '../../../credentials/passkeys/registration.ts'
import { getRequestWords } from '../../../languages/request-language.ts'
import type { SecondFactorName } from '../../../model/sign-in-methods.ts'
import { buildKnownCookies, findKnownBrowserId } from '../../../pages/known-browser-cookies.ts'
import type { RenderOptions } from '../../../pages/render-page.pages.tsx'
import { renderComponent } from '../../../pages/responses.http.ts'
import { clearAddress } from '../passcode/passcode-sign-in.ts'
import { handlePasskeyCreation, toCreationOptions } from '../passkey/passkey-creation.http.ts'
import { PASSKEY_METHOD } from '../passkey/passkey-forms.http.ts'
import { describePasskeyRejection, isPasskeyRejection } from '../passkey/passkey-rejection-texts.ts'
import { addAccountCookies } from '../step/added-account.http.ts'
import { toAttemptsRejection } from '../step/input-rejection-texts.ts'
import { offersMethod } from '../step/offered-methods.ts'
import { switchUser } from '../step/sign-in.ts'
import type { FormHandlers, PageView, RenderPage } from '../step/sign-in-method.http.ts'
import { buildPagePath, readCookies, redirectToPage, rejectInput } from '../step/sign-in-step.http.ts'
import type { SignInStep } from '../step/sign-in-step.ts'
import { deriveSetupChallenge, signInByNewPasskey } from './passkey-setup.ts'
import {
  PasskeyFactorPage,
  PasskeySetupPage,
  RecoveryCodePage,
  RecoveryCodesPage,
  TotpPage,
  TotpSetupPage,
} from './second-factor.pages.tsx'
import {
  findSecondFactorUser,
  RejectedSecondFactor,
  type SecondFactorUser,
  selectFactorTask,
  signInBySecondFactor,
} from './second-factor-sign-in.ts'
import { forgetRecoveryCodes, prepareTotpSetup, readRecoveryCodes, signInByNewTotp } from './totp-setup.ts'

declare module '../../interactions/progress.ts' {
  interface SignInPages {
    'second-factor': true
    recovery: true
    'passkey-setup': true
    'recovery-codes': true
  }
}

/** The page of each second factor. */
const PAGES = { totp: 'second-factor', recovery: 'recovery' } as const
const PAGE_NAMES = [...Object.values(PAGES), 'passkey-setup'] as const
type SecondFactorPageName = (typeof PAGE_NAMES)[number]

/** The pages of this step. */
export const SECOND_FACTOR_PAGES = {
  'second-factor': (signIn, view) => renderSecondFactor(signIn, 'second-factor', view),
  recovery: (signIn, view) => renderSecondFactor(signIn, 'recovery', view),
  'passkey-setup': (signIn, view) => renderSecondFactor(signIn, 'passkey-setup', view),
} as const satisfies Record<SecondFactorPageName, RenderPage>

/** The forms of a second factor, by `step`. */
export const SECOND_FACTOR_FORMS: FormHandlers = {
  totp: (signIn, form) => handleCode(signIn, form, 'totp'),
  recovery: (signIn, form) => handleCode(signIn, form, 'recovery'),
  ...PASSKEY_METHOD.forms,
  'create-passkey': handleSetupPasskey,
  restart: restartSignIn,
}

/** The form of the page with recovery codes. */
export const RECOVERY_CODES_FORMS: FormHandlers = { 'codes-saved': handleCodesSaved }

/**
 * Renders the page of a second factor, with the error of the last input. A user who has none sets up an
 * authenticator app; one who has a passkey uses it.
 */
async function renderSecondFactor(
  signIn: SignInStep,
  page: SecondFactorPageName,
  { common, rejection, options }: PageView,
): Promise<Response> {
  const found = findSecondFactorUser(signIn)
  if (!found) throw new Error('no second factor is asked for')
  const error = rejection && describePasskeyRejection(getRequestWords(signIn.call.ctx), rejection)
  const label = selectAccountLabel(found.user)
  // Submits a code when it is complete.
  const scripted = { ...options, runsScript: true }
  const task = await selectFactorTask(signIn, found)
  if (task === 'passkey') {
    const entry = PASSKEY_METHOD.renderEntry?.(signIn, {
      form: common.interaction,
      rejection: rejection && isPasskeyRejection(rejection) ? rejection : null,
      stay: null,
    })
    const isLimited = rejection?.reason === 'attempts'
    return renderComponent(
      signIn.call.ctx,
      PasskeyFactorPage,
      { ...common, label, entry, error, isLimited },
      scripted,
    )
  }
  if (task === 'setup') return renderSetup(signIn, page, found, { ...common, error }, scripted)
  const [Page, other] =
    page === 'recovery' ? ([RecoveryCodePage, 'second-factor'] as const) : ([TotpPage, 'recovery'] as const)
  const props = { ...common, label, otherPath: buildPagePath(signIn, other), error }
  return renderComponent(signIn.call.ctx, Page, props, scripted)
}

/** Renders the setup of an authenticator app, or of a passkey if the tenant has that method. */
async function renderSetup(
  signIn: SignInStep,
  page: SecondFactorPageName,
  found: SecondFactorUser,
  common: PageView['common'] & { error: string | null },
  options: RenderOptions,
): Promise<Response> {
  const { tenant } = signIn.call.ctx
  const hasPasskeys = offersMethod(signIn, 'passkey')
  if (page === 'passkey-setup' && hasPasskeys) {
    const challenge = deriveSetupChallenge(tenant, signIn.interaction, found)
    const registration = { user: found.user, challenge, credentials: [] }
    const props = {
      ...common,
      options: await buildRegistrationOptions(tenant, registration),
      otherPath: buildPagePath(signIn, 'second-factor'),
    }
    return renderComponent(signIn.call.ctx, PasskeySetupPage, props, toCreationOptions(options))
  }
  const enrollment = await prepareTotpSetup(signIn, found)
  const passkeyPath = hasPasskeys ? buildPagePath(signIn, 'passkey-setup') : null
  return renderComponent(signIn.call.ctx, TotpSetupPage, { ...common, enrollment, passkeyPath }, options)
}

async function handleSetupPasskey(signIn: SignInStep, form: Record<string, string>): Promise<Response> {
  const found = findSecondFactorUser(signIn)
  if (!found || !offersMethod(signIn, 'passkey')) return redirectToPage(signIn)
  return handlePasskeyCreation(signIn, form, 'passkey-setup', async (created) =>
    addAccountCookies(signIn, await signInByNewPasskey(signIn, found, created)),
  )
}

/** Renders the recovery codes that the user is to save. */
export function renderRecoveryCodes(
  { call, interaction }: SignInStep,
  { common, options }: PageView,
): Response {
  const codes = readRecoveryCodes(call.ctx.tenant, interaction) ?? []
  return renderComponent(call.ctx, RecoveryCodesPage, { ...common, codes }, options)
}

async function handleCodesSaved(signIn: SignInStep): Promise<Response> {
  await forgetRecoveryCodes(signIn.call.ctx, signIn.interaction)
  return redirectToPage(signIn)
}

async function handleCode(
  signIn: SignInStep,
  form: Record<string, string>,
  method: SecondFactorName,
): Promise<Response> {
  const found = findSecondFactorUser(signIn)
  if (!found) return redirectToPage(signIn)
  const { tenant } = signIn.call.ctx
  const cookies = readCookies(signIn)
  try {
    const code = form.code ?? ''
    const browser = findFactorBrowser(tenant, found.user.userId, cookies)
    const entered = found.user.hasSecondFactor
      ? await signInBySecondFactor(signIn, found, { method, code, browser })
      : await signInByNewTotp(signIn, found, code)
    return redirectToPage(signIn, 'email', [
      ...addAccountCookies(signIn, entered),
      ...buildFactorBrowserCookies(tenant, entered.userId, cookies),
    ])
  } catch (error) {
    const isWrong = error instanceof RejectedSecondFactor
    return rejectInput(signIn, {
      page: PAGES[method],
      ...(isWrong ? { reason: method } : toAttemptsRejection(error)),
    })
  }
}

/** Forgets the first proof, or signs in anew instead of the session's user. */
async function restartSignIn(signIn: SignInStep): Promise<Response> {
  const { call, interaction } = signIn
  if (interaction.progress.firstProof) await clearAddress(call.ctx, interaction)
  else await switchUser(call.ctx, interaction)
  return redirectToPage(signIn)
}

/** Neither an address nor the id of a user, which mark browsers after a first proof. */
const toKey = (userId: string): string => `second-factor:${userId}`

/**
 * The id of this browser if a second factor of the user was proven in it; null otherwise. It has guesses of its own: somebody
 * who has the mailbox of the user cannot use them up.
 */
const findFactorBrowser = (tenant: string, userId: string, cookies: string | null): string | null =>
  findKnownBrowserId(tenant, toKey(userId), cookies)

/** Set-Cookie values that mark the browser, only after the second factor of the user was proven in it. */
const buildFactorBrowserCookies = (tenant: string, userId: string, cookies: string | null): string[] =>
  buildKnownCookies(tenant, toKey(userId), cookies)
