import { describe, expect, test } from 'vitest'
import {
  buildAccountCookies,
  buildRemovalCookies,
  readSessionTokens,
} from '../../src/pages/account-cookies.ts'
import { nameCookie } from '../../src/pages/cookies.ts'
import { buildKnownCookies, findKnownBrowserId } from '../../src/pages/known-browser-cookies.ts'

const TOKEN = 'a'.repeat(43)
const SESSION_COOKIE = nameCookie('sid', 'acme')
const ACCOUNT_COOKIE = nameCookie('acc', 'acme')
const KNOWN_BROWSER_COOKIE = nameCookie('kb', 'acme')
/** Cookies that a sibling site has set, each with a name of its own. */
const plant = (kind: string, count: number, value = ''): string =>
  Array.from(
    { length: count },
    (_, number) => `${kind}_${number.toString(16).padStart(12, '0')}=${value}`,
  ).join('; ')

const ACCOUNT = { userId: 'user_1', token: 'b'.repeat(43) }
const signIn = (header: string) => buildAccountCookies('acme', header, ACCOUNT, [], 60)

describe('a Cookie header with hundreds of names of this server', () => {
  test.each([
    ['the sign-in', signIn, ACCOUNT_COOKIE],
    [
      'the mark of a known browser',
      (header: string) => buildKnownCookies('acme', 'key', header),
      KNOWN_BROWSER_COOKIE,
    ],
    ['a logout', (header: string) => buildRemovalCookies('acme', header, [{ token: TOKEN }]), ACCOUNT_COOKIE],
  ])('is answered with at most 30 cookies by %s', (_, build, kind) => {
    const cookies = build(plant(kind, 500, TOKEN))
    expect(cookies.length).toBeGreaterThan(1)
    expect(cookies.length).toBeLessThanOrEqual(30)
  })

  test('leaves the session and seven tokens in all', () => {
    const tokens = Array.from({ length: 300 }, (_, number) => String(number).padStart(43, '0'))
    const planted = tokens.map(
      (token, number) => `${ACCOUNT_COOKIE}_${number.toString(16).padStart(12, '0')}=${token}`,
    )
    const read = readSessionTokens('acme', [...planted, `${SESSION_COOKIE}=${TOKEN}`].join('; '))
    expect(read).toEqual([TOKEN, ...tokens.slice(0, 6)])
  })

  test('leaves the browser known, and does not end the mark that it sets', () => {
    const [mark = ''] = buildKnownCookies('acme', 'key', null)
    const pair = mark.slice(0, mark.indexOf(';'))
    expect(findKnownBrowserId('acme', 'key', `${plant(KNOWN_BROWSER_COOKIE, 300)}; ${pair}`)).not.toBeNull()
    const name = pair.slice(0, pair.indexOf('='))
    const set = buildKnownCookies('acme', 'key', `${name}=forged; ${plant(KNOWN_BROWSER_COOKIE, 300)}`)
    expect(set.filter((cookie) => cookie.startsWith(`${name}=`))).toHaveLength(1)
  })

  test('takes time in proportion to its length', () => {
    const work: [string, (header: string) => unknown, kind: string][] = [
      ['tokens', (header) => readSessionTokens('acme', header), ACCOUNT_COOKIE],
      ['sign-in', signIn, ACCOUNT_COOKIE],
      ['known', (header) => buildKnownCookies('acme', 'key', header), KNOWN_BROWSER_COOKIE],
      ['removal', (header) => buildRemovalCookies('acme', header, [{ token: TOKEN }]), ACCOUNT_COOKIE],
    ]
    const measure = (run: () => unknown): number => {
      let best = Number.POSITIVE_INFINITY
      for (let round = 0; round < 5; round++) {
        const before = process.cpuUsage()
        for (let count = 0; count < 5; count++) run()
        const { user, system } = process.cpuUsage(before)
        best = Math.min(best, (user + system) / 5)
      }
      return best
    }
    for (const [what, run, kind] of work) {
      const [half, whole] = [plant(kind, 500), plant(kind, 2000)]
      expect(
        measure(() => run(whole)),
        what,
      ).toBeLessThan(10 * measure(() => run(half)))
      // A pass over 60 KB for each of 2,000 names takes more than 100 ms.
      expect(
        measure(() => run(whole)),
        what,
      ).toBeLessThan(10_000)
    }
  })
})
