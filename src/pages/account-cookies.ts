import { computeMac } from '../core/crypto.ts'
import {
  buildCookie,
  buildExpiredCookie,
  buildSurplusCookies,
  listCookies,
  nameCookie,
  readSessionToken,
} from './cookies.ts'

/** A browser sends the token of the current session, and those of its accounts; more are not read. */
const MAX_TOKENS = 7

const PART = /^[0-9a-f]{12}$/

/**
 * The cookie of an account. Each account has its own, so that two sign-ins at once do not overwrite each other. The
 * name does not show the user.
 */
const toName = (tenant: string, userId: string): string =>
  nameCookie('acc', tenant, computeMac('account-cookie', `${tenant}\n${userId}`).toString('hex').slice(0, 12))

/** The cookies of the accounts of a browser at a tenant. */
function listAccountCookies(tenant: string, cookies: string | null): Map<string, string | null> {
  const prefix = nameCookie('acc', tenant, '')
  return listCookies(cookies, (name) => name.startsWith(prefix) && PART.test(name.slice(prefix.length)))
}

/** The cookies with session tokens: that of the current session first. */
const listTokenCookies = (tenant: string, cookies: string | null): [name: string, token: string | null][] => [
  [nameCookie('sid', tenant), readSessionToken(cookies, tenant)],
  ...listAccountCookies(tenant, cookies),
]

/** The session tokens that a browser sends: that of the current session first, without duplicates. */
export function readSessionTokens(tenant: string, cookies: string | null): string[] {
  const tokens = listTokenCookies(tenant, cookies).flatMap(([, token]) => token ?? [])
  return [...new Set(tokens)].slice(0, MAX_TOKENS)
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
  const present = listAccountCookies(tenant, cookies)
  const otherNames = [...present.keys()].filter((name) => name !== own)
  return [
    buildCookie(current, account.token, maxAgeSeconds),
    // An account that is chosen keeps its cookie, with the lifetime that it has.
    ...(present.get(own) === account.token ? [] : [buildCookie(own, account.token, maxAgeSeconds)]),
    // The session of a browser that an earlier version signed in has no cookie of its account.
    ...[...kept]
      .filter(([name]) => name !== own && !present.has(name))
      .map(([name, token]) => buildCookie(name, token, maxAgeSeconds)),
    ...otherNames.filter((name) => !kept.has(name)).map(buildExpiredCookie),
    ...buildSurplusCookies(cookies, 'sid', [current]),
    ...buildSurplusCookies(cookies, 'acc', [own, ...otherNames]),
  ]
}

/** Set-Cookie values that remove accounts from the browser: the cookies with their tokens. */
export const buildRemovalCookies = (
  tenant: string,
  cookies: string | null,
  accounts: readonly Pick<Account, 'token'>[],
): string[] =>
  listTokenCookies(tenant, cookies)
    .filter(([, value]) => accounts.some(({ token }) => token === value))
    .map(([name]) => buildExpiredCookie(name))
