import { expect } from 'vitest'
import { runAuthorize } from './conformance-plan.ts'
import { authorizePath } from './protocol.ts'
import { test as base } from './signed-in-plan.ts'

export const [V4, V6, NAME] = ['http://127.0.0.1/cb', 'http://[::1]/cb', 'http://localhost:8000/cb']
export const GOOD = { code: expect.any(String), state: 'a-state', iss: expect.any(String) }

/** With authorize requests of a plan whose user is signed in, also at a native client. */
export const test = base
  .extend(
    'pageWith',
    { scope: 'file' },
    ({ plan }) =>
      async (more: Record<string, string>) =>
        (await plan.authorize({ prompt: 'login', ...more }, { stopAt: 'email' })).html,
  )
  .extend('native', { scope: 'file' }, ({ newClient }) =>
    newClient({ appType: 'native', callbacks: [V4, V6, NAME] }),
  )
  .extend(
    'arrive',
    { scope: 'file' },
    ({ planUser, plan, native }) =>
      (redirect_uri: string, more = {}) =>
        runAuthorize(
          plan.browser,
          plan.tenant,
          authorizePath(plan.tenant, native, { redirect_uri, ...more }),
          planUser.email,
        ),
  )
