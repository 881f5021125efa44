import {
  AppError,
  Conflict,
  InvalidCredential,
  InvalidInput,
  NotFound,
  RateLimited,
  Unavailable,
} from '../../core/errors.ts'

/** Why a form was rejected, in sentences, and what was entered. */
export type PageProblem = { messages: string[]; values: Record<string, string>; status: number }

const MINUTE = 60

/** How long to wait, rounded up. */
const formatWait = (seconds: number): string => {
  if (seconds <= MINUTE) return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`
  const minutes = Math.ceil(seconds / MINUTE)
  return `${minutes} minutes`
}

function describe(error: AppError, labels: Record<string, string>): string[] {
  if (error instanceof NotFound) return ['That is no longer there. This page shows what there is now.']
  if (error instanceof RateLimited)
    return [`You have tried too often. Try again in ${formatWait(error.retryAfterSeconds)}.`]
  if (error.fields.length > 0)
    return error.fields.map(({ field, description }) => `${labels[field] ?? field} ${description}.`)
  return [error.message]
}

const SHOWN_ERRORS = [InvalidInput, InvalidCredential, Conflict, NotFound, RateLimited, Unavailable]

/** The problem of an error that a person can do something about; null for any other error. */
export function toPageProblem(
  error: unknown,
  labels: Record<string, string>,
  values: Record<string, string>,
): PageProblem | null {
  if (!(error instanceof AppError) || !SHOWN_ERRORS.some((shown) => error instanceof shown)) return null
  // 401 asks for a credential of HTTP, and 404 is about the page.
  const status = error instanceof InvalidCredential || error instanceof NotFound ? 400 : error.status
  return { messages: describe(error, labels), values, status }
}
