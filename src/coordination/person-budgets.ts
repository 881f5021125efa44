import type { Ctx } from '../context/context.ts'
import { env } from '../core/env.ts'
import { RateLimited } from '../core/errors.ts'
import { countLimited } from '../core/metrics.ts'
import { createBackgroundCounts } from './background-counts.ts'
import { resolveCallerKey } from './call-budget.ts'
import { STORAGE_BUDGETS } from './storage-budgets.ts'

/**
 * What a signed-in user or an authenticated client stores, and what people are sent, per hour. Each purpose has a budget
 * of its own, so that none uses up another one, and none counts what strangers request. They are counted in the background.
 */
const HOUR_SECONDS = 3600
const MAX_KEYS = 50_000
/** A message to Redis takes as long as a tenth of a token request. */
const STEP = 0.1

const createBudget = (name: string, limit: number) => {
  const countUse = createBackgroundCounts(name, {
    limit,
    seconds: HOUR_SECONDS,
    maxKeys: MAX_KEYS,
    step: STEP,
  })
  return (key: string, what: string, amount?: number): void => {
    const { isExhausted, resetSeconds } = countUse(key, undefined, amount)
    if (!isExhausted) return
    countLimited(name)
    throw new RateLimited(resetSeconds, `Too many ${what} in an hour: ${limit} are allowed.`)
  }
}

/** A grant with its session and events has about 3 KB, and its events stay for 90 days. */
const takeGrantUse = createBudget('grants', env.grantsPerHour)
/** Of all clients: one that uses up its grants leaves the user others. */
const takeUserGrantUse = createBudget('userGrants', 4 * env.grantsPerHour)
/** A sign-in has a session and events of about 3 KB. */
const takeSignInUse = createBudget('signIns', env.grantsPerHour)
/** A change has an event of about 1 KB. */
const takeChangeUse = createBudget('changes', 300)
/** A consent has an event of about 1 KB, also when it was given before. */
const takeConsentUse = createBudget('consents', 300)
/** Changes that are announced to the user, each by one message. */
const takeNoticeUse = createBudget('announcedChanges', 30)
/** Enrollment links that an administrator makes without sending them: each is announced to the user. */
const takeLinkUse = createBudget('announcedLinks', 10)
/** Used recovery codes, each of which is announced. */
const takeRecoveryCodeUse = createBudget('recoveryCodes', 20)
/** Invitations to an address, and those of a user who invites. */
const takeInvitationUse = createBudget('invitations', 10)
const takeInviterUse = createBudget('inviters', 1000)
/** Pushed requests and device codes of a client that authenticates, in KB: as much as all strangers of its tenant. */
const takePendingUse = createBudget('pendingRequests', STORAGE_BUDGETS.pendingRequest.tenant.bytes / 1000)
/** Responses that are stored for a day under an Idempotency-Key, in KB. */
const countStoredAnswer = createBackgroundCounts('storedAnswers', {
  limit: 200_000,
  seconds: HOUR_SECONDS,
  maxKeys: MAX_KEYS,
})
const countSignInNotice = createBackgroundCounts('signInNotices', {
  limit: 10,
  seconds: HOUR_SECONDS,
  maxKeys: MAX_KEYS,
})

/** Counts a grant that a user gives a client. Throws RateLimited. See docs/decisions/0109. */
export function takeGrant(tenant: string, userId: string, clientId: string): void {
  // First: what one client is denied must not use up the grants of others.
  takeGrantUse(`${tenant}:${userId}:${clientId}`, 'grants of a user to a client')
  takeUserGrantUse(`${tenant}:${userId}`, 'grants of a user')
}

/** Counts a sign-in of a user who has proven the account. Throws RateLimited. */
export const takeSignIn = (tenant: string, userId: string): void =>
  takeSignInUse(`${tenant}:${userId}`, 'sign-ins of a user')

/** A user who changes the own account: by the client of a grant, or, without one, on the pages of the tenant. */
export type ChangingUser = { userId: string; grantId: string | null }

/** Clients have a budget of their own, so that none keeps the user from changes on the pages. */
const toChangeKey = (tenant: string, { userId, grantId }: ChangingUser): string =>
  grantId === null ? `${tenant}:${userId}` : `${tenant}:${userId}:clients`

/** Counts a change that a user makes to the own account. Throws RateLimited. */
export const takeChange = (tenant: string, user: ChangingUser): void =>
  takeChangeUse(toChangeKey(tenant, user), 'changes of an account')

/** Counts a consent of a user on the hosted pages. Throws RateLimited. */
export const takeConsent = (tenant: string, userId: string): void =>
  takeConsentUse(`${tenant}:${userId}`, 'consents')

/** Counts a change that is announced to the user who makes it. Throws RateLimited. */
export const takeAnnouncedChange = (tenant: string, user: ChangingUser): void =>
  takeNoticeUse(toChangeKey(tenant, user), 'changes of sign-in methods')

/** Counts an enrollment link that is announced to the user whose account it opens. Throws RateLimited. */
export const takeAnnouncedLink = (tenant: string, userId: string): void =>
  takeLinkUse(`${tenant}:${userId}`, 'links for a user')

/** Counts a recovery code that was accepted, and is announced. Throws RateLimited. */
export const takeRecoveryCode = (tenant: string, userId: string): void =>
  takeRecoveryCodeUse(`${tenant}:${userId}`, 'recovery codes')

/** Counts an invitation to an address, by a user if it is one. Throws RateLimited. */
export function takeInvitation({ tenant, actor }: Pick<Ctx, 'tenant' | 'actor'>, addressHash: string): void {
  takeInvitationUse(`${tenant}:${addressHash}`, 'invitations of an address')
  if (actor.kind === 'user') takeInviterUse(`${tenant}:${actor.tenant}:${actor.userId}`, 'invitations')
}

/** Counts the bytes of a pushed request or a device code of a client that authenticates. Throws RateLimited. */
export const takePendingRequest = (tenant: string, clientId: string, bytes: number): void =>
  takePendingUse(`${tenant}:${clientId}`, 'kilobytes of requests of a client', Math.ceil(bytes / 1000))

/** Counts the bytes of a response that is to be stored for a caller; false when it has stored enough of them. */
export const takeStoredAnswer = (caller: Pick<Ctx, 'tenant' | 'actor' | 'ip'>, bytes: number): boolean =>
  !countStoredAnswer(resolveCallerKey(caller), undefined, Math.ceil(bytes / 1000)).isExhausted

/** Counts a notice of a sign-in; false when the user has been sent enough of them. */
export const takeSignInNotice = (tenant: string, userId: string): boolean =>
  !countSignInNotice(`${tenant}:${userId}`).isExhausted
