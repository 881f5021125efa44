import { describe, expect, test } from 'vitest'
import { createNetworkMatcher, normalizeIp, normalizeNetwork, toSite } from '../../src/core/network/ip.ts'

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

describe('normalizeNetwork', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.7/24', '203.0.113.0/24'],
    ['203.0.113.7/32', '203.0.113.7'],
    ['203.0.113.7/0', '0.0.0.0/0'],
    ['2001:DB8::1/32', '2001:db8::/32'],
    ['2001:db8::1/128', '2001:db8::1'],
    ['::ffff:203.0.113.7/120', '203.0.113.0/24'],
    ['::ffff:203.0.113.7/95', null],
    ['::1.2.3.4/64', '::/64'],
    ['203.0.113.0/33', null],
    ['2001:db8::/129', null],
    ['203.0.113.0/', null],
    ['203.0.113.0/08', null],
    ['203.0.113.0/-1', null],
    ['203.0.113.0/255.255.255.0', null],
    ['203.0.113/24', null],
    ['/24', null],
    ['unknown/24', null],
    ['', null],
  ])('returns for %j: %j', (given, kept) => {
    expect(normalizeNetwork(given)).toBe(kept)
  })
})

describe('createNetworkMatcher', () => {
  test.each([
    ['203.0.113.7', ['203.0.113.7'], ['203.0.113.8', null]],
    ['203.0.113.0/25', ['203.0.113.0', '203.0.113.127'], ['203.0.113.128', '2001:db8::1', null]],
    ['2001:db8::/32', ['2001:db8::1', '2001:db8:ffff::'], ['2001:db9::', '203.0.113.7', null]],
    ['::/0', ['2001:db8::1'], ['203.0.113.7']],
  ])('finds in %s: %j, and not %j', (network, inside, outside) => {
    const isInside = createNetworkMatcher(network)
    expect([...inside, ...outside].filter(isInside)).toEqual(inside)
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
