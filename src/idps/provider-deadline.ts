import { AsyncLocalStorage } from 'node:async_hooks'

/** All requests to a provider in one step of a sign-in: then the user is offered the other ways. */
const SIGN_IN_DEADLINE_MS = 3000
/** All requests of one refresh of tokens. */
export const REFRESH_DEADLINE_MS = 10_000

const deadlines = new AsyncLocalStorage<AbortSignal>()

/** The signal that ends the requests of the current step; undefined without a deadline. */
export const findDeadline = (): AbortSignal | undefined => deadlines.getStore()

/** Runs a step of a sign-in. Its requests to the provider end after 3 s in total. */
export const withinSignInDeadline = <T>(step: () => Promise<T>): Promise<T> =>
  deadlines.run(AbortSignal.timeout(SIGN_IN_DEADLINE_MS), step)

/** Runs a refresh of tokens. Its requests to the provider end after 10 s in total. */
export const withinRefreshDeadline = <T>(step: () => Promise<T>): Promise<T> =>
  deadlines.run(AbortSignal.timeout(REFRESH_DEADLINE_MS), step)
