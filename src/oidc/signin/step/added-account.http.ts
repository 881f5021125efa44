import { buildKnownCookies, findKnownBrowserId } from '../../../pages/known-browser-cookies.ts'
import { announceNewDevice } from '../../../sessions/new-device-notice.ts'
import { buildProofCookie, buildSessionCookies, readCookies } from './sign-in-step.http.ts'
import type { EnteredAccount, SignInStep } from './sign-in-step.ts'

/**
 * The cookies after a proof by any method: the new binding of the interaction, and with an account the session and the
 * mark of a browser that is known to the user.
 */
export function buildAddedAccountCookies(signIn: SignInStep, entered: EnteredAccount | null): string[] {
  const binding = buildProofCookie(signIn)
  if (!entered) return [binding]
  const known = buildKnownCookies(signIn.call.ctx.tenant, entered.userId, readCookies(signIn))
  return [binding, ...buildSessionCookies(signIn, entered), ...known]
}

/** Announces a sign-in in a browser that was not known to its user, once, where the tenant wants it. */
export function announceBrowser(signIn: SignInStep, { userId }: EnteredAccount): void {
  const { call, authorization } = signIn
  const isKnown =
    findKnownBrowserId(call.ctx.tenant, userId, readCookies(signIn)) !== null ||
    authorization.accounts.some((account) => account.userId === userId)
  if (!isKnown && call.tenant.newDeviceNotice) announceNewDevice(call.ctx, userId)
}

/** The cookies after a proof, whose account, if there is one, is announced. */
export function addAccountCookies(signIn: SignInStep, entered: EnteredAccount | null): string[] {
  if (entered) announceBrowser(signIn, entered)
  return buildAddedAccountCookies(signIn, entered)
}
