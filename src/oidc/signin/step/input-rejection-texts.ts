import { RateLimited } from '../../../core/errors.ts'
import { addSeconds } from '../../../core/time.ts'
import type { Words } from '../../../languages/translations.ts'
import { formatWait } from '../../../languages/waiting-time.ts'
import type { InputRejection } from '../../interactions/progress.ts'

/** The rejection of an input that came too soon after others. Throws any other error. */
export function toAttemptsRejection(error: unknown): Pick<InputRejection, 'reason' | 'retryAt'> {
  if (!(error instanceof RateLimited)) throw error
  return { reason: 'attempts', retryAt: addSeconds(new Date(), error.retryAfterSeconds).toISOString() }
}

/** Seconds until a time; 0 when it has passed or there is none. */
export const computeWaitSeconds = (time: Date | null | undefined, now: Date): number =>
  Math.max(0, Math.ceil(((time?.getTime() ?? 0) - now.getTime()) / 1000))

/** The wait until a time, in words; null when there is none. */
export function formatWaitUntil(time: Date | null | undefined, now: Date, words: Words): string | null {
  const seconds = computeWaitSeconds(time, now)
  return seconds === 0 ? null : formatWait(seconds, words)
}

/** The value of Retry-After: seconds. */
export const computeRetryAfter = ({ retryAt }: InputRejection): string =>
  String(Math.max(1, computeWaitSeconds(retryAt ? new Date(retryAt) : null, new Date())))

/** The message about a rejected input: that of its reason. A method may have another one. */
export function describeInputRejection(
  words: Words,
  { reason, retryAt, provider = '' }: InputRejection,
): string {
  const wait = reason === 'attempts' && retryAt ? formatWaitUntil(new Date(retryAt), new Date(), words) : null
  if (wait) return words.text('problem.attemptsWait', { wait })
  // Of the messages, only those about a provider have an argument.
  return words.text(`problem.${reason}` as 'problem.provider-rejected', { name: provider })
}
