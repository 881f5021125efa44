import { expect } from 'vitest'
import { listAlterations } from './attacks.ts'
import type { PageBrowser } from './page-browser.ts'
import { answerIn } from './protocol.ts'
import { test as base } from './signed-in.ts'

/** Parameters of an authorize request for offline access without a page. */
export const OFFLINE = { prompt: 'none', scope: 'openid profile email offline_access' }

/** With authorize requests of a user who is signed in. */
export const test = base
  .extend('authorize', { scope: 'file' }, ({ oidc, signedIn }) => async (browser: PageBrowser = signedIn) => {
    const response = await browser.fetch(oidc.authorizePath(OFFLINE))
    return answerIn(response.headers.get('location'))
  })
  .extend(
    'newCode',
    { scope: 'file' },
    ({ authorize }) =>
      async () =>
        (await authorize()).code ?? '',
  )

/** Uses a token; true when it is accepted, false when it is rejected like any other text. */
type Use = (token: string) => Promise<boolean>

/** Expects that every alteration is rejected, and then that the token itself is accepted. */
export async function expectOnlyItself(token: string, use: Use): Promise<void> {
  const accepted: string[] = []
  for (const [name, altered] of listAlterations(token)) if (await use(altered)) accepted.push(name)
  expect(accepted).toEqual([])
  expect(await use(token)).toBe(true)
}

/** Whether a response accepts; throws unless it accepts or rejects with this status. */
export function isAccepted({ status }: { status: number }, rejection: number): boolean {
  expect([200, 303, rejection]).toContain(status)
  return status !== rejection
}
