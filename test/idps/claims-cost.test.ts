import { expect, test } from 'vitest'
import { mergeClaims, readVerification, selectUserClaims } from '../../src/idps/answers/claims.ts'

const MAX_ANSWER_BYTES = 1_000_000

/** The least processor time of five runs, in milliseconds. */
function measureCpu(run: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

const judge = (claims: Record<string, unknown>) =>
  selectUserClaims(mergeClaims(claims), ['sub', 'email', 'email_verified'])
const manyClaims = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`a${index}`, 1]))

test.for<[name: string, claims: Record<string, unknown>]>([
  ['90,000 claims', manyClaims],
  ['a list of 490,000 numbers', { groups: Array.from({ length: 490_000 }, () => 1) }],
])('%s in an answer of 1 MB take less than three times as long to judge as to parse', ([, more]) => {
  const text = JSON.stringify({ sub: 'ada', ...more })
  expect(text.length).toBeGreaterThan(0.97 * MAX_ANSWER_BYTES)
  const claims = JSON.parse(text)
  expect(judge(claims).sub).toBe('ada')
  expect(measureCpu(() => judge(claims))).toBeLessThan(3 * measureCpu(() => JSON.parse(text)))
})

test('the verification of an address is read behind any number of other claims', () => {
  const claims = { sub: 'ada', email: 'ada@example.com', ...manyClaims, email_verified: false }
  expect(readVerification(judge(claims))).toBe(false)
})

test('a claim that is nested too deeply to be written is left out', () => {
  const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)
  expect(judge({ sub: 'ada', deep })).toEqual({ sub: 'ada' })
})
