import { buildKnownCookies, findKnownBrowserId } from '../../../pages/known-browser-cookies.ts'
import { announceNewDevice } from '../../../sessions/new-device-notice.ts'
import { buildSessionCookies, readCookies } from './sign-in-step.http.ts'
import type { EnteredAccount, SignInStep } from './sign-in-step.ts'

/**
 * The cookies after a sign-in by any method, which also mark the browser as known to the user; none without an account.
 * Announces a browser that was not known, once, where the tenant wants it.
 */
export function admitAccount(signIn: SignInStep, entered: EnteredAccount | null): string[] {
  if (!entered) return []
  const { call, authorization } = signIn
  const { userId } = entered
  const { tenant } = call.ctx
  const cookies = readCookies(signIn)
  const isKnown =
    findKnownBrowserId(tenant, userId, cookies) !== null ||
    authorization.accounts.some((account) => account.userId === userId)
  if (!isKnown && call.tenant.newDeviceNotice) announceNewDevice(call.ctx, userId)
  return [...buildSessionCookies(signIn, entered), ...buildKnownCookies(tenant, userId, cookies)]
}
