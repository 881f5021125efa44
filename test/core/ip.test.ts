import { describe, expect, test } from 'vitest'
import { normalizeIp, toSite } from '../../src/core/network/ip.ts'

describe('normalizeIp', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:DB8::1', '2001:db8::1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['::1', '::1'],
    ['::', '::'],
    ['fe80::1%eth0', 'fe80::1'],
    ['203.0.113.007', null],
    ['203.0.113', null],
    ['2001:db8::1::', null],
    ['[::1]', null],
    ['unknown', null],
    ['', null],
  ])('returns for %j: %j', (given, kept) => {
    expect(normalizeIp(given)).toBe(kept)
  })
})

describe('toSite', () => {
  test.each([
    ['2001:db8:1:2::1', '2001:db8:1::/48'],
    ['2001:DB8:1:ffff::', '2001:db8:1::/48'],
    ['2001:db8:2::1', '2001:db8:2::/48'],
    ['::ffff:203.0.113.7', null],
    ['203.0.113.7', null],
    ['unknown', null],
    [null, null],
  ])('returns for %j: %j', (given, site) => {
    expect(toSite(given)).toBe(site)
  })
})
