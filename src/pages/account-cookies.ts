import { computeMac } from '../core/crypto.ts'
import {
  ACCOUNT_COOKIE,
  buildCookie,
  buildExpiredCookie,
  listCookies,
  readCookie,
  SESSION_COOKIE,
} from './cookies.ts'

/** A browser sends the token of the current session, and those of its accounts; more are not read. */
const MAX_TOKENS = 7

const NAME = new RegExp(`^${ACCOUNT_COOKIE}_[0-9a-f]{12}$`)

/**
 * The cookie of an account. Each account has its own, so that two sign-ins at once do not overwrite each other. The
 * name does not show the user.
 */
const toName = (tenant: string, userId: string): string =>
  `${ACCOUNT_COOKIE}_${computeMac('account-cookie', `${tenant}\n${userId}`).toString('hex').slice(0, 12)}`

const isAccountCookie = (name: string): boolean => NAME.test(name)

/** The cookies with session tokens: that of the current session first. */
const listTokenCookies = (cookies: string | null): [name: string, token: string | null][] => [
  [SESSION_COOKIE, readCookie(cookies, SESSION_COOKIE)],
  ...listCookies(cookies, isAccountCookie),
]

/** The session tokens that a browser sends: that of the current session first, without duplicates. */
export function readSessionTokens(cookies: string | null): string[] {
  const tokens = listTokenCookies(cookies).flatMap(([, token]) => token ?? [])
  return [...new Set(tokens)].slice(0, MAX_TOKENS)
}

/** An account of the browser, and the token of its session. */
type Account = { userId: string; token: string }

/**
 * Set-Cookie values that make an account the current one, for `maxAgeSeconds`, or until the browser is closed. `others`
 * keep their cookies; those of accounts that are not among them end.
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
  const present = listCookies(cookies, isAccountCookie)
  return [
    buildCookie(tenant, SESSION_COOKIE, account.token, maxAgeSeconds),
    // An account that is chosen keeps its cookie, with the lifetime that it has.
    ...(present.get(own) === account.token ? [] : [buildCookie(tenant, own, account.token, maxAgeSeconds)]),
    // The session of a browser that an earlier version signed in has no cookie of its account.
    ...[...kept]
      .filter(([name]) => name !== own && !present.has(name))
      .map(([name, token]) => buildCookie(tenant, name, token, maxAgeSeconds)),
    ...[...present.keys()]
      .filter((name) => name !== own && !kept.has(name))
      .map((name) => buildExpiredCookie(tenant, name)),
  ]
}

/** Set-Cookie values that remove accounts from the browser: the cookies with their tokens. */
export const buildRemovalCookies = (
  tenant: string,
  cookies: string | null,
  accounts: readonly Pick<Account, 'token'>[],
): string[] =>
  listTokenCookies(cookies)
    .filter(([, value]) => accounts.some(({ token }) => token === value))
    .map(([name]) => buildExpiredCookie(tenant, name))
