import { CHANNELS, type Channel } from '../../../core/sign-in-methods.ts'
import { formatWait } from '../../../languages/wait.ts'
import type { Words } from '../../../languages/words.ts'
import type { InputRejection } from '../../interactions/progress.ts'
import { describeInvalidAddress } from './address-texts.ts'

/** Seconds until a time; 0 when it has passed or there is none. */
export const computeWaitSeconds = (time: Date | null | undefined, now: Date): number =>
  Math.max(0, Math.ceil(((time?.getTime() ?? 0) - now.getTime()) / 1000))

/** The wait until a time, in words; null when there is none. */
export function formatWaitUntil(time: Date | null | undefined, now: Date, words: Words): string | null {
  const seconds = computeWaitSeconds(time, now)
  return seconds === 0 ? null : formatWait(seconds, words)
}

/** The value of Retry-After: seconds. */
export const computeRetryAfter = ({ retryAt }: InputRejection, now = new Date()): string =>
  String(Math.max(1, computeWaitSeconds(retryAt ? new Date(retryAt) : null, now)))

/** Whether a passkey of the first page was rejected; its part of the page shows the message. */
export const isPasskeyRejection = ({ reason }: InputRejection): boolean =>
  reason === 'passkey' || reason === 'passkeyChanged'

/** One message for every reason, so that it does not reveal why. */
function selectPasskeyProblem(page: InputRejection['page']) {
  if (page === 'passkey' || page === 'passkey-setup') return 'problem.passkeySetup'
  return page === 'second-factor' ? 'problem.passkeyFactor' : 'problem.passkey'
}

/** The message about a rejected input. `channels` are those of the tenant. */
export function describeInputRejection(
  words: Words,
  { page, reason, retryAt, entered, provider = '' }: InputRejection,
  channels: readonly Channel[] = CHANNELS,
  now = new Date(),
): string {
  switch (reason) {
    case 'address':
      return describeInvalidAddress(words, channels, entered)
    case 'passkey':
      return words.text(selectPasskeyProblem(page))
    case 'provider-canceled':
    case 'provider-misconfigured':
    case 'provider-rejected':
    case 'provider-unavailable':
      return words.text(`problem.${reason}`, { name: provider })
    case 'attempts': {
      const wait = formatWaitUntil(retryAt ? new Date(retryAt) : null, now, words)
      return wait ? words.text('problem.attemptsWait', { wait }) : words.text('problem.attempts')
    }
    default:
      return words.text(`problem.${reason}`)
  }
}
