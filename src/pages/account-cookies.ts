import { parse } from 'cookie-es'
import { computeMac } from '../core/crypto.ts'
import { buildCookie, buildExpiredCookie, buildSurplusCookies, nameCookie, readCookie } from './cookies.ts'

/** A browser sends the token of the current session, and those of its accounts; more are not read. */
const MAX_TOKENS = 7

const PART = /^[0-9a-f]{12}$/

/**
 * The cookie of an account. Each account has its own, so that two sign-ins at once do not overwrite each other. The
 * name does not show the user.
 */
const toName = (tenant: string, userId: string): string =>
  nameCookie('acc', tenant, computeMac('account-cookie', `${tenant}\n${userId}`).toString('hex').slice(0, 12))

function listNames(tenant: string, cookies: string | null): string[] {
  const prefix = nameCookie('acc', tenant, '')
  return Object.keys(parse(cookies ?? '')).filter(
    (name) => name.startsWith(prefix) && PART.test(name.slice(prefix.length)),
  )
}

/** The session tokens that a browser sends: that of the current session first, without duplicates. */
export function readSessionTokens(tenant: string, cookies: string | null): string[] {
  const names = [nameCookie('sid', tenant), ...listNames(tenant, cookies)]
  return [...new Set(names.flatMap((name) => readCookie(cookies, name) ?? []))].slice(0, MAX_TOKENS)
}

/** An account of the browser, and the token of its session. */
type Account = { userId: string; token: string }

/**
 * Set-Cookie values that make an account the current one, for `maxAgeSeconds`, or until the browser is closed. `others`
 * keep their cookies; those of accounts that are not among them end, and those of other tenants that are too many.
 */
export function buildAccountCookies(
  tenant: string,
  cookies: string | null,
  account: Account,
  others: readonly Account[],
  maxAgeSeconds: number | null,
): string[] {
  const kept = new Map(others.map(({ userId, token }) => [toName(tenant, userId), token]))
  const own = toName(tenant, account.userId)
  const current = nameCookie('sid', tenant)
  const present = listNames(tenant, cookies)
  return [
    buildCookie(current, account.token, maxAgeSeconds),
    // An account that is chosen keeps its cookie, with the lifetime that it has.
    ...(readCookie(cookies, own) === account.token ? [] : [buildCookie(own, account.token, maxAgeSeconds)]),
    // The session of a browser that an earlier version signed in has no cookie of its account.
    ...[...kept]
      .filter(([name]) => name !== own && !present.includes(name))
      .map(([name, token]) => buildCookie(name, token, maxAgeSeconds)),
    ...present.filter((name) => name !== own && !kept.has(name)).map(buildExpiredCookie),
    ...buildSurplusCookies(cookies, 'sid', [current]),
    ...buildSurplusCookies(cookies, 'acc', [own, ...present.filter((name) => name !== own)]),
  ]
}

/** Set-Cookie values that remove accounts from the browser: the cookies with their tokens. */
export const buildRemovalCookies = (
  tenant: string,
  cookies: string | null,
  accounts: readonly Pick<Account, 'token'>[],
): string[] =>
  [nameCookie('sid', tenant), ...listNames(tenant, cookies)]
    .filter((name) => accounts.some(({ token }) => token === readCookie(cookies, name)))
    .map(buildExpiredCookie)
