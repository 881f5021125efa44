import { createPlatformCtx } from '../../src/context/context.ts'
import { nameCookie } from '../../src/pages/cookies.ts'
import { startBrowserSession } from '../../src/sessions/sessions.ts'
import type { PageBrowser } from './page-browser.ts'

/**
 * Starts a user's session in a browser without the hosted pages, for tests of what follows a sign-in: one
 * transaction instead of six requests.
 */
export async function startSessionIn(browser: PageBrowser, tenant: string, userId: string): Promise<void> {
  const ctx = createPlatformCtx(tenant)
  const { token } = await ctx.db.transaction((tx) =>
    startBrowserSession(tx, ctx, { userId, proof: { method: 'passcode', amr: ['otp'] } }),
  )
  browser.cookies.set(nameCookie('sid', tenant), token)
}
