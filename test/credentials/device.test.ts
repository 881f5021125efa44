import { describe, expect, test } from 'vitest'
import { describeDevice } from '../../src/credentials/device.ts'

const now = new Date('2026-11-01T00:00:00.000Z')
const describeBy = (headers: Record<string, string>, tenant = 'acme') =>
  describeDevice(tenant, new Headers(headers), { ip: '192.0.2.1', now })

const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1'
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0'
const CHROME =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36'

describe('describeDevice', () => {
  test('takes the device from User-Agent Client Hints', () => {
    const device = describeBy({
      'user-agent': CHROME,
      'sec-ch-ua': '"Not;A=Brand";v="8", "Chromium";v="142", "Google Chrome";v="142"',
      'sec-ch-ua-full-version-list':
        '"Not;A=Brand";v="8.0.0.0", "Chromium";v="142.0.1.2", "Google Chrome";v="142.0.1.2"',
      'sec-ch-ua-mobile': '?1',
      'sec-ch-ua-platform': '"Android"',
      'sec-ch-ua-platform-version': '"16.0.0"',
      'sec-ch-ua-arch': '""',
      'sec-ch-ua-bitness': '""',
      'sec-ch-ua-model': '"Pixel \\"9\\""',
    })
    expect(device).toEqual({
      hash: expect.any(String),
      swVersion: null,
      mobile: true,
      platform: 'Android',
      architecture: null,
      bitness: null,
      model: 'Pixel "9"',
      platformVersion: '16.0.0',
      uaBrand: 'Google Chrome',
      uaVersion: '142.0.1.2',
      lastSeenIp: '192.0.2.1',
      lastSeenAt: now,
    })
  })

  test.each([
    ['Safari', SAFARI, { uaBrand: 'Safari', uaVersion: '18.1', platform: 'iOS', mobile: true }],
    ['Firefox', FIREFOX, { uaBrand: 'Firefox', uaVersion: '144.0', platform: 'Windows', mobile: false }],
    ['Chrome', CHROME, { uaBrand: 'Chrome', uaVersion: '142.0.0.0', platform: 'Android', mobile: true }],
    ['a program', 'curl/8', { uaBrand: null, uaVersion: null, platform: null, mobile: false }],
    ['no browser', '', { uaBrand: null, uaVersion: null, platform: null, mobile: null }],
  ])('guesses the device from the User-Agent of %s', (_who, userAgent, expected) => {
    expect(describeBy(userAgent ? { 'user-agent': userAgent } : {})).toMatchObject(expected)
  })

  test('returns the same hash after an update, and another for another device or tenant', () => {
    const hash = describeBy({ 'user-agent': FIREFOX }).hash
    expect(describeBy({ 'user-agent': FIREFOX.replaceAll('144', '145') }).hash).toBe(hash)
    expect(describeBy({ 'user-agent': SAFARI }).hash).not.toBe(hash)
    expect(describeBy({ 'user-agent': FIREFOX }, 'other').hash).not.toBe(hash)
  })

  test('limits the length of values and drops those that are not printable', () => {
    const device = describeBy({
      'user-agent': 'x'.repeat(10_000),
      'sec-ch-ua': `"${'b'.repeat(900)}";v="1"`,
      'sec-ch-ua-model': `"${'m'.repeat(9000)}"`,
      'sec-ch-ua-platform': 'Linux',
      'sec-ch-ua-arch': '"x86',
      'sec-ch-ua-mobile': 'yes',
    })
    expect(device).toMatchObject({ platform: null, architecture: null, mobile: false })
    for (const value of Object.values(device))
      if (typeof value === 'string') expect(value.length).toBeLessThan(101)
    expect(describeBy({ 'sec-ch-ua-model': '"Pi\u00adxel"' }).model).toBe(null)
  })
})
