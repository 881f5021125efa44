import { startPlan } from './conformance-plan.ts'
import { test as base } from './fixtures.ts'
import { ageSignIn } from './sign-in-age.ts'

/** `test` with a relying party of the conformance plans whose browser has a session. */
export const test = base
  .extend('planUser', { scope: 'file' }, ({ newPerson }) => newPerson())
  .extend('firstSignIn', { scope: 'file' }, async ({ app, tenant, planUser }) => {
    const plan = await startPlan(app, tenant, planUser.email, 'query')
    return { plan, ...(await plan.signIn()) }
  })
  .extend('plan', { scope: 'file' }, ({ firstSignIn }) => firstSignIn.plan)
  /** Runs an authorization request with prompt=none. */
  .extend(
    'authorizeSilently',
    { scope: 'file' },
    ({ plan }) =>
      (more: Record<string, string | null> = {}, options = {}) =>
        plan.authorize({ prompt: 'none', ...more }, options),
  )
  /** Sets the time of every sign-in of the tenant to so many seconds ago. */
  .extend(
    'ageSignIns',
    { scope: 'file' },
    ({ plan }) =>
      (seconds: number) =>
        ageSignIn(plan.tenant, {}, seconds),
  )
