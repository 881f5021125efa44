import {
  AppError,
  Conflict,
  InvalidCredential,
  InvalidInput,
  NotFound,
  RateLimited,
  Unavailable,
} from '../../core/errors.ts'
import type { MessageKey } from '../../languages/messages.ts'
import type { Words } from '../../languages/translations.ts'
import { formatWait } from '../../languages/waiting-time.ts'

/** Why a form was rejected, in sentences, and what was entered. */
export type PageProblem = {
  messages: string[]
  values: Record<string, string>
  status: number
  /** What is wrong with each field, by its name. */
  issues?: Record<string, string>
}

/** A message that says what was done on an account page, and its name in the URL of the page. */
export type Notice = `notice.${NoticeName}`
export type NoticeName = MessageKey extends infer Key
  ? Key extends `notice.${infer Name}`
    ? Name
    : never
  : never

/** The message that names a field. */
export type FieldLabel = Extract<MessageKey, `label.${string}` | `field.${string}`>

function describe(words: Words, error: AppError, labels: Record<string, FieldLabel>): string[] {
  if (error instanceof NotFound) return [words.text('account.gone')]
  if (error instanceof RateLimited)
    return [words.text('account.tooOften', { wait: formatWait(error.retryAfterSeconds, words) })]
  return error.fields.length === 0
    ? [words.translate(error.message)]
    : error.fields.map(({ field, description }) => {
        const label = labels[field] ? words.text(labels[field]) : field
        return words.text('signUp.issue', { label, issue: words.translate(description) })
      })
}

const SHOWN_ERRORS = [InvalidInput, InvalidCredential, Conflict, NotFound, RateLimited, Unavailable]

/** The problem of an error that a person can do something about; null for any other error. */
export function toPageProblem(
  words: Words,
  error: unknown,
  labels: Record<string, FieldLabel>,
  values: Record<string, string>,
): PageProblem | null {
  if (!(error instanceof AppError) || !SHOWN_ERRORS.some((shown) => error instanceof shown)) return null
  // 401 asks for a credential of HTTP, and 404 is about the page.
  const status = error instanceof InvalidCredential || error instanceof NotFound ? 400 : error.status
  const issues = Object.fromEntries(error.fields.map(({ field, description }) => [field, description]))
  return { messages: describe(words, error, labels), values, status, issues }
}
