import { describe, expect } from 'vitest'
import { findTargetIssue } from '../../src/core/network/fetcher.ts'
import { isPublicAddress } from '../../src/core/network/ip.ts'
import { describeOutcome, LOOSE, STRICT, test } from '../support/fetch-targets.ts'

/** Addresses that no fetch may reach, in every spelling that a URL permits. */
const PRIVATE_ADDRESSES = [
  '127.0.0.1',
  '127.255.255.254',
  '::1',
  '::',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  'fe80::1',
  'fc00::1',
  'fdff:ffff::1',
  'fd00:ec2::254',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '::127.0.0.1',
  '::1.1.1.1',
  '127.1',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '64:ff9b::127.0.0.1',
  '2002:7f00:1::1',
  '2001:0:7f00:1::1',
  '198.18.0.1',
  '198.19.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  'ff02::1',
  '2001:db8::1',
  'not an address',
]

describe('a private address', () => {
  test.each(PRIVATE_ADDRESSES)('%s is recognized', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
  test.each(['1.1.1.1', '93.184.215.14', '2606:4700:4700::1111', '::ffff:1.1.1.1'])(
    '%s is not recognized as private',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )

  test.for([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[0:0:0:0:0:ffff:7f00:1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://198.18.0.1/',
    'http://100.64.0.1/',
  ])('%s is rejected before a lookup', async (url, { fetcher }) => {
    expect(findTargetIssue(new URL(url), STRICT)).toBe('must be on a public address')
    const lookups: string[] = []
    const strict = fetcher({
      ...STRICT,
      resolve: async (host) => {
        lookups.push(host)
        return [{ address: '1.1.1.1', family: 4 }]
      },
    })
    expect(await describeOutcome(strict(url))).toBe('refused')
    expect(lookups).toEqual([])
  })

  test('of this machine is rejected as a name, with and without a final dot', async ({ fetcher, inside }) => {
    expect(await describeOutcome(fetcher(STRICT)(`http://localhost:${inside.port}/`))).toBe('refused')
    // Some resolvers do not resolve this form.
    expect(await describeOutcome(fetcher(STRICT)(`http://localhost.:${inside.port}/`))).not.toBe('fetched')
    expect(inside.seen).toEqual([])
  })

  test.for(PRIVATE_ADDRESSES.filter((address) => address !== 'not an address'))(
    '%s is rejected as the address of a name, also in addition to a public one',
    async (address, { fetcher, inside }) => {
      const bad = { address, family: address.includes(':') ? 6 : 4 }
      const good = { address: '1.1.1.1', family: 4 }
      for (const addresses of [[bad], [good, bad], [bad, good]]) {
        const strict = fetcher({ ...STRICT, resolve: async () => addresses })
        expect(await describeOutcome(strict(`http://rebound.example:${inside.port}/`))).toBe('refused')
      }
      expect(inside.seen).toEqual([])
    },
  )
})

describe('a host name', () => {
  test('is resolved once: the connection uses the checked address', async ({ fetcher, serve }) => {
    const first = await serve((_request, response) => response.end('first'))
    const second = await serve((_request, response) => response.end('second'), '127.0.0.2', first.port)
    const answers = ['127.0.0.1', '127.0.0.2']
    let lookups = 0
    const loose = fetcher({
      ...LOOSE,
      resolve: async () => [{ address: answers[lookups++] ?? '127.0.0.2', family: 4 }],
    })
    const response = await loose(`http://rebound.example:${first.port}/`)
    expect(await response.text()).toBe('first')
    expect(lookups).toBe(1)
    expect(second.seen).toEqual([])
  })

  test('is sent as Host', async ({ fetcher, serve }) => {
    const server = await serve((_request, response) => response.end())
    const loose = fetcher({ ...LOOSE, resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    await loose(`http://named.example:${server.port}/path?query`)
    expect(server.seen).toMatchObject([
      { url: '/path?query', headers: { host: `named.example:${server.port}` } },
    ])
  })
})

describe('a URL', () => {
  test.for(['file:///etc/passwd', 'ftp://example.com/', 'data:text/plain,x', 'gopher://example.com/'])(
    '%s is rejected for its scheme',
    async (url, { fetcher }) => {
      expect(await describeOutcome(fetcher(LOOSE)(url))).toBe('refused')
    },
  )
  test('is rejected with http where https is required, and with user information', async ({
    fetcher,
    inside,
  }) => {
    expect(await describeOutcome(fetcher({ ...LOOSE, requireHttps: true })(`${inside.origin}/`))).toBe(
      'refused',
    )
    expect(await describeOutcome(fetcher(LOOSE)(`http://user:pass@127.0.0.1:${inside.port}/`))).toBe(
      'refused',
    )
    expect(inside.seen).toEqual([])
  })
})
