import { env } from '../core/env.ts'
import { RateLimited } from '../core/errors.ts'
import { countLimited } from '../core/metrics.ts'
import { createBackgroundCounts } from './background-counts.ts'

/**
 * What a signed-in user stores and is sent by calls and pages, per hour. Each purpose has a budget of its own, so that
 * none uses up another one, and none counts what strangers request. They are counted in the background.
 */
const HOUR_SECONDS = 3600
const MAX_KEYS = 50_000

const createBudget = (name: string, limit: number) => {
  const countUse = createBackgroundCounts(name, { limit, seconds: HOUR_SECONDS, maxKeys: MAX_KEYS })
  return (key: string, what: string, now?: number): void => {
    const { isExhausted, resetSeconds } = countUse(key, now)
    if (!isExhausted) return
    countLimited(name)
    throw new RateLimited(resetSeconds, `Too many ${what} in an hour: ${limit} are allowed.`)
  }
}

/** A grant with its session and events has about 3 KB, and its events stay for 90 days. */
const takeGrantUse = createBudget('grants', env.grantsPerHour)
/** A change has an event of about 1 KB. */
const takeChangeUse = createBudget('changes', 300)
/** A consent has an event of about 1 KB, also when it was given before. */
const takeConsentUse = createBudget('consents', 300)
/** Changes that are announced to the user, each by one message. */
const takeNoticeUse = createBudget('announcedChanges', 30)
/** Enrollment links that an administrator makes without sending them: each is announced to the user. */
const takeLinkUse = createBudget('announcedLinks', 10)
const countSignInNotice = createBackgroundCounts('signInNotices', {
  limit: 10,
  seconds: HOUR_SECONDS,
  maxKeys: MAX_KEYS,
})

/** Counts a grant that a user gives a client. Throws RateLimited. */
export const takeGrant = (tenant: string, userId: string, clientId: string): void =>
  takeGrantUse(`${tenant}:${userId}:${clientId}`, 'grants of a user to a client')

/** Counts a change that a user makes to the own account. Throws RateLimited. */
export const takeChange = (tenant: string, userId: string): void =>
  takeChangeUse(`${tenant}:${userId}`, 'changes of an account')

/** Counts a consent of a user on the hosted pages. Throws RateLimited. */
export const takeConsent = (tenant: string, userId: string): void =>
  takeConsentUse(`${tenant}:${userId}`, 'consents')

/** Counts a change that is announced to the user who makes it. Throws RateLimited. */
export const takeAnnouncedChange = (tenant: string, userId: string): void =>
  takeNoticeUse(`${tenant}:${userId}`, 'changes of sign-in methods')

/** Counts an enrollment link that is announced to the user whose account it opens. Throws RateLimited. */
export const takeAnnouncedLink = (tenant: string, userId: string): void =>
  takeLinkUse(`${tenant}:${userId}`, 'links for a user')

/** Counts a notice of a sign-in; false when the user has been sent enough of them. */
export const takeSignInNotice = (tenant: string, userId: string): boolean =>
  !countSignInNotice(`${tenant}:${userId}`).isExhausted
