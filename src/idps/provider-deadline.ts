import { AsyncLocalStorage } from 'node:async_hooks'

/** All requests to a provider in one step of a sign-in: then the user is offered the other ways. */
const SIGN_IN_DEADLINE_MS = 3000

const deadlines = new AsyncLocalStorage<AbortSignal>()

/** The signal that ends the requests of the current step; undefined outside of a sign-in. */
export const findDeadline = (): AbortSignal | undefined => deadlines.getStore()

/** Runs a step of a sign-in. Its requests to the provider end after 3 s in total. */
export const withinSignInDeadline = <T>(step: () => Promise<T>): Promise<T> =>
  deadlines.run(AbortSignal.timeout(SIGN_IN_DEADLINE_MS), step)
