import { randomBytes } from 'node:crypto'
import { describe, expect } from 'vitest'
import { consumeLimit, RATE_LIMITS } from '../../src/coordination/rate-limits.ts'
import { RateLimited } from '../../src/core/errors.ts'
import { toNetwork } from '../../src/core/network/ip.ts'
import { sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { test } from '../support/fixtures.ts'
import { VISIT } from '../support/visit.ts'

describe('the network of an address', () => {
  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2::1', '2001:DB8:0001:0002::9'],
    ['2001:db8::', '2001:db8:0:0:1:2:3:4'],
    ['::1', '0:0:0:0:0:0:0:2'],
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['192.0.2.1', '::FFFF:192.0.2.1'],
    ['192.0.2.1', '::ffff:c000:201'],
    ['192.0.2.1', '0:0:0:0:0:ffff:192.0.2.1'],
    ['fe80::1', 'fe80::2%eth0.100'],
    ['192.0.2.1', '0000:0000:0000:0000:0000:FFFF:C000:0201'],
  ])('is the same for %s and %s', (one, other) => {
    expect(toNetwork(other)).toBe(toNetwork(one))
  })

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['192.0.2.1', '192.0.2.2'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2'],
    ['::1', '::ffff:0.0.0.1'],
    ['192.0.2.1', '::192.0.2.1'],
  ])('differs for %s and %s', (one, other) => {
    expect(toNetwork(other)).not.toBe(toNetwork(one))
  })
})

describe('a limit', () => {
  test('counts all addresses of a network, per tenant and per purpose', async ({ tenant }) => {
    const addresses = ['::1', '::2', '::ffff', ':1:1:1:1'].map((tail, i) =>
      i % 2 === 0 ? `2001:db8:aaaa:bbbb${tail}` : `2001:DB8:AAAA:bbbb${tail}`,
    )
    const { points } = RATE_LIMITS.sendPasscode
    for (let i = 0; i < points; i++)
      await consumeLimit('sendPasscode', tenant, addresses[i % addresses.length] ?? '')
    for (const address of addresses)
      await expect(consumeLimit('sendPasscode', tenant, address)).rejects.toThrow(RateLimited)
    await consumeLimit('sendPasscode', tenant, '2001:db8:aaaa:bbbc::1')
    await consumeLimit('sendPasscode', `t-${randomBytes(4).toString('hex')}`, addresses[0] ?? '')
    await consumeLimit('authenticatePasscode', tenant, addresses[0] ?? '')
  })

  test('ignores forwarding headers while TRUST_PROXY is 0', async ({ app }) => {
    const tenant = await newTenant()
    const statuses: number[] = []
    for (let i = 0; i <= RATE_LIMITS.clientAuthentication.points; i++) {
      const address = `203.0.113.${i}`
      const { status } = await app.fetch(`/${tenant}/oidc/token`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-for': address,
          'x-real-ip': address,
          forwarded: `for=${address}`,
          'x-client-ip': address,
          'cf-connecting-ip': address,
        },
        body: 'client_id=x&client_secret=y',
      })
      statuses.push(status)
    }
    expect(statuses.at(-2)).toBe(401)
    expect(statuses.at(-1)).toBe(429)
  })

  test('lets a network request as many codes an hour as the tenant sets, and sends none to unknown numbers', async ({
    inbox,
  }) => {
    const tenant = await newTenant()
    const ctx = await ctxFor(tenant)
    await updateSettings(ctx, { networkCodeLimit: 20 })
    const visitor = { ...ctx, actor: { kind: 'anonymous' } as const, ip: '198.51.100.99' }
    const numbers = Array.from({ length: 25 }, (_, i) => `+4179${String(1_000_000 + i)}`)
    const outcomes = await Promise.allSettled(
      numbers.map((number) => sendSignInPasscode(visitor, number, VISIT)),
    )
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(5)
    const sent = await sql(
      `SELECT 1 FROM "Event" WHERE "tenantId" = $1 AND "type" = 'passcode.sent' AND "userId" IS NOT NULL`,
      [tenant],
    )
    expect(sent).toEqual([])
    for (const number of numbers) expect(await inbox.list(number)).toEqual([])
  })
})
