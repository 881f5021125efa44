import { toUnavailable } from './provider-errors.ts'

/** All requests to a provider in one step of a sign-in: then the user is offered the other ways. */
export const SIGN_IN_DEADLINE_MS = 3000
/** All requests of one refresh of tokens. */
export const REFRESH_DEADLINE_MS = 10_000

/** Runs a step that sends requests. Throws Unavailable at the deadline; a request that is still open ends by itself. */
async function runUntil<T>(deadlineMs: number, step: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(toUnavailable('too slow', `no answer within ${deadlineMs} ms`)),
      deadlineMs,
    )
    timer.unref()
  })
  try {
    return await Promise.race([step(), deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** Runs a step of a sign-in. Its requests to the provider take 3 s in total, or the rest of them. */
export const withinSignInDeadline = <T>(
  step: () => Promise<T>,
  remainingMs = SIGN_IN_DEADLINE_MS,
): Promise<T> => runUntil(Math.max(0, Math.round(remainingMs)), step)

/** Runs a refresh of tokens. Its requests to the provider take 10 s in total. */
export const withinRefreshDeadline = <T>(step: () => Promise<T>): Promise<T> =>
  runUntil(REFRESH_DEADLINE_MS, step)
