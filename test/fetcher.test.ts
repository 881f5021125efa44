import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

// Tests may reach this machine (test/support/setup.ts); here it is as in production.
vi.hoisted(() => {
  process.env.FETCH_PRIVATE = '0'
})

import { parseEnv } from '../src/env.ts'
import {
  createFetcher,
  type FetchFault,
  type FetchRules,
  guardedFetch,
  isPublicAddress,
  targetFault,
} from '../src/fetcher.ts'

const STRICT: FetchRules = { mayReach: isPublicAddress, requireHttps: false }
const LOOSE: FetchRules = { ...STRICT, mayReach: () => true }

const fetchers: { close: () => Promise<void> }[] = []
const fetcher = (rules: FetchRules) => {
  const made = createFetcher(rules)
  fetchers.push(made)
  return made
}
const servers: Server[] = []
/** Answers with `listener` on an address of this machine; counts what reaches it. */
async function serve(listener: RequestListener, host = '127.0.0.1', port = 0) {
  const seen: { url: string; headers: NodeJS.Dict<string | string[]> }[] = []
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers })
    listener(request, response)
  }).listen(port, host)
  servers.push(server)
  await once(server, 'listening')
  const at = server.address() as AddressInfo
  return { port: at.port, origin: `http://${host}:${at.port}`, seen }
}
const faultOf = async (fetched: Promise<unknown>): Promise<string> =>
  fetched.then(
    () => 'fetched',
    (error: FetchFault) => error.kind,
  )

let inside: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  inside = await serve((_request, response) => response.end('secret'))
})
afterAll(async () => {
  await Promise.all(fetchers.map((each) => each.close()))
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

describe('security 52: addresses', () => {
  const PRIVATE = [
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
  it.each(PRIVATE)('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
  it.each(['1.1.1.1', '93.184.215.14', '2606:4700:4700::1111', '::ffff:1.1.1.1'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true)
    },
  )

  it.each([
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
  ])('%s is refused before anything is asked', async (url) => {
    expect(targetFault(new URL(url), STRICT)).toBe('must be on a public address')
    const lookups: string[] = []
    const strict = fetcher({
      ...STRICT,
      resolve: async (host) => {
        lookups.push(host)
        return [{ address: '1.1.1.1', family: 4 }]
      },
    })
    expect(await faultOf(strict(url))).toBe('refused')
    expect(lookups).toEqual([])
  })

  it('a name of this machine is refused, with or without a dot', async () => {
    expect(await faultOf(fetcher(STRICT)(`http://localhost:${inside.port}/`))).toBe('refused')
    // Not every resolver knows this form.
    expect(await faultOf(fetcher(STRICT)(`http://localhost.:${inside.port}/`))).not.toBe('fetched')
    expect(inside.seen).toEqual([])
  })

  it.each(PRIVATE.filter((address) => address !== 'not an address'))(
    'a name that resolves to %s is refused, also beside a public address',
    async (address) => {
      const bad = { address, family: address.includes(':') ? 6 : 4 }
      const good = { address: '1.1.1.1', family: 4 }
      for (const addresses of [[bad], [good, bad], [bad, good]]) {
        const strict = fetcher({ ...STRICT, resolve: async () => addresses })
        expect(await faultOf(strict(`http://rebound.example:${inside.port}/`))).toBe('refused')
      }
      expect(inside.seen).toEqual([])
    },
  )

  it('the process fetches nothing private unless the environment says so, which production does not by itself', async () => {
    expect(await faultOf(guardedFetch(`${inside.origin}/`))).toBe('refused')
    expect(inside.seen).toEqual([])
  })
})

describe('security 52: rebinding', () => {
  it('what a name meant when it was judged is what is connected to: it is looked up once', async () => {
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

  it('the name is still the one that the server is asked for', async () => {
    const server = await serve((_request, response) => response.end())
    const loose = fetcher({ ...LOOSE, resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    await loose(`http://named.example:${server.port}/path?query`)
    expect(server.seen).toMatchObject([
      { url: '/path?query', headers: { host: `named.example:${server.port}` } },
    ])
  })
})

describe('FETCH_PRIVATE', () => {
  it('is on in development only, unless somebody says otherwise', () => {
    const production = {
      NODE_ENV: 'production',
      BASE_URL: 'https://id.example.com',
      DATABASE_URL: 'postgresql://db/vestibule',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
      SMTP_URL: 'smtp://mail.example.com',
    }
    const of = (source: Record<string, string>) => {
      const parsed = parseEnv({ DATA_DIR: process.env.DATA_DIR, ...source })
      return 'env' in parsed ? parsed.env.fetchPrivate : parsed.faults
    }
    expect([of({}), of({ FETCH_PRIVATE: '0' })]).toEqual([true, false])
    expect([of({ NODE_ENV: 'test' }), of({ NODE_ENV: 'test', FETCH_PRIVATE: '1' })]).toEqual([false, true])
    expect([of(production), of({ ...production, FETCH_PRIVATE: '1' })]).toEqual([false, true])
  })
})

describe('schemes', () => {
  it.each(['file:///etc/passwd', 'ftp://example.com/', 'data:text/plain,x', 'gopher://example.com/'])(
    '%s is refused',
    async (url) => {
      expect(await faultOf(fetcher(LOOSE)(url))).toBe('refused')
    },
  )
  it('http is refused where https is required, and user information everywhere', async () => {
    expect(await faultOf(fetcher({ ...LOOSE, requireHttps: true })(`${inside.origin}/`))).toBe('refused')
    expect(await faultOf(fetcher(LOOSE)(`http://user:pass@127.0.0.1:${inside.port}/`))).toBe('refused')
    expect(inside.seen).toEqual([])
  })
})

describe('security 52: redirects', () => {
  const redirecting = (location: string, status = 302) =>
    serve((_request, response) => response.writeHead(status, { location }).end())

  it.each([301, 302, 303, 307, 308])('a %i is judged like the first address', async (status) => {
    const trap = await serve((_request, response) => response.end('trapped'), '127.0.0.2')
    // Where the first hop stands counts as outside, the rest of this machine as what it is.
    const outside = fetcher({
      ...STRICT,
      mayReach: (address) => address === '127.0.0.1' || isPublicAddress(address),
      resolve: async () => [{ address: '127.0.0.2', family: 4 }],
    })
    for (const host of ['127.0.0.2', '169.254.169.254', '[::1]', '[::ffff:7f00:2]', 'rebound.example']) {
      const { origin } = await redirecting(`http://${host}:${trap.port}/`, status)
      expect([host, await faultOf(outside(origin))]).toEqual([host, 'refused'])
    }
    expect(trap.seen).toEqual([])
  })

  it.each(['file:///etc/passwd', 'gopher://x/', 'http://'])('one to %s is refused', async (location) => {
    const { origin } = await redirecting(location)
    expect(await faultOf(fetcher(LOOSE)(origin))).toBe('refused')
  })

  it('three are followed, a fourth is not', async () => {
    const chain = await serve((request, response) => {
      const step = Number(request.url?.slice(1))
      if (step === 0) return response.end('arrived')
      response.writeHead(302, { location: `/${step - 1}` }).end()
    })
    expect(await (await fetcher(LOOSE)(`${chain.origin}/3`)).text()).toBe('arrived')
    expect(await faultOf(fetcher(LOOSE)(`${chain.origin}/4`))).toBe('refused')
  })

  it('what carries a token or a body is not sent anywhere else', async () => {
    const elsewhere = await serve((_request, response) => response.end())
    const { origin } = await redirecting(`${elsewhere.origin}/`)
    const loose = fetcher(LOOSE)
    expect(await faultOf(loose(origin, { headers: { authorization: 'Bearer x' } }))).toBe('refused')
    expect(await faultOf(loose(origin, { method: 'POST', body: 'code=x' }))).toBe('refused')
    expect(elsewhere.seen).toEqual([])
  })
})

describe('security 52: sizes and times', () => {
  it('a body that is too large is not read on, declared or not, compressed or not', async () => {
    const loose = fetcher({ ...LOOSE, limitBytes: 1000 })
    const plain = await serve((_request, response) => response.end('x'.repeat(1001)))
    const chunked = await serve((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(100)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const bomb = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000))),
    )
    for (const { origin } of [plain, chunked, bomb]) expect(await faultOf(loose(origin))).toBe('too-large')
    const fits = await serve((_request, response) => response.end('x'.repeat(1000)))
    expect(await (await loose(fits.origin)).text()).toHaveLength(1000)
  })

  it('an answer that does not come, or does not end, is given up', async () => {
    const loose = fetcher({ ...LOOSE, limitMs: 100 })
    const silent = await serve(() => {})
    const endless = await serve((_request, response) => void response.write('x'))
    expect(await faultOf(loose(silent.origin))).toBe('slow')
    expect(await faultOf(loose(endless.origin))).toBe('slow')
  })

  it('nobody there is said as such', async () => {
    const gone = await serve(() => {})
    const server = servers.pop()
    server?.close()
    await once(server as Server, 'close')
    expect(await faultOf(fetcher(LOOSE)(gone.origin))).toBe('unreachable')
    const nowhere = fetcher({ ...LOOSE, resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await faultOf(nowhere('http://nowhere.example/'))).toBe('unreachable')
  })
})

describe('proxies', () => {
  it('of the environment are not asked', async () => {
    const proxy = await serve((_request, response) => response.end('proxied'))
    const target = await serve((_request, response) => response.end('direct'))
    const before = { ...process.env }
    Object.assign(process.env, {
      http_proxy: proxy.origin,
      HTTP_PROXY: proxy.origin,
      NODE_USE_ENV_PROXY: '1',
    })
    try {
      expect(await (await fetcher(LOOSE)(target.origin)).text()).toBe('direct')
    } finally {
      process.env = before
    }
    expect(proxy.seen).toEqual([])
  })
})
