import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect } from 'vitest'
import { isPublicAddress } from '../../src/core/network/ip.ts'
import { describeOutcome, LOOSE, STRICT, test } from '../support/fetch-targets.ts'

const redirectTo =
  (location: string, status = 302): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { location }).end()

describe('a redirect', () => {
  test.for([301, 302, 303, 307, 308])(
    'with status %i is checked like the first address',
    async (status, { fetcher, serve }) => {
      const trap = await serve((_request, response) => response.end('trapped'), '127.0.0.2')
      // The first address counts as public, all others of this machine as private.
      const outside = fetcher({
        ...STRICT,
        isAllowedAddress: (address) => address === '127.0.0.1' || isPublicAddress(address),
        resolve: async () => [{ address: '127.0.0.2', family: 4 }],
      })
      for (const host of ['127.0.0.2', '169.254.169.254', '[::1]', '[::ffff:7f00:2]', 'rebound.example']) {
        const { origin } = await serve(redirectTo(`http://${host}:${trap.port}/`, status))
        expect([host, await describeOutcome(outside(origin))]).toEqual([host, 'refused'])
      }
      expect(trap.seen).toEqual([])
    },
  )

  test.for([
    ['file:///etc/passwd', 'refused'],
    ['gopher://x/', 'refused'],
    ['http://', 'redirected'],
  ] as const)('to %s is rejected', async ([location, outcome], { fetcher, serve }) => {
    const { origin } = await serve(redirectTo(location))
    expect(await describeOutcome(fetcher(LOOSE)(origin))).toBe(outcome)
  })

  test('is followed three times and not a fourth time', async ({ fetcher, serve }) => {
    const chain = await serve((request, response) => {
      const step = Number(request.url?.slice(1))
      if (step === 0) return response.end('arrived')
      response.writeHead(302, { location: `/${step - 1}` }).end()
    })
    expect(await (await fetcher(LOOSE)(`${chain.origin}/3`)).text()).toBe('arrived')
    expect(await describeOutcome(fetcher(LOOSE)(`${chain.origin}/4`))).toBe('redirected')
  })

  test('is not followed by a request with a token or a body', async ({ fetcher, serve }) => {
    const elsewhere = await serve((_request, response) => response.end())
    const { origin } = await serve(redirectTo(`${elsewhere.origin}/`))
    const loose = fetcher(LOOSE)
    expect(await describeOutcome(loose(origin, { headers: { authorization: 'Bearer x' } }))).toBe(
      'redirected',
    )
    expect(await describeOutcome(loose(origin, { method: 'POST', body: 'code=x' }))).toBe('redirected')
    expect(elsewhere.seen).toEqual([])
  })
})

describe('the limits of a fetch', () => {
  test('reject a body that is too large, declared or not, compressed or not', async ({ fetcher, serve }) => {
    const loose = fetcher({ ...LOOSE, maxBytes: 1000 })
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
    for (const { origin } of [plain, chunked, bomb])
      expect(await describeOutcome(loose(origin))).toBe('too-large')
    const fits = await serve((_request, response) => response.end('x'.repeat(1000)))
    expect(await (await loose(fits.origin)).text()).toHaveLength(1000)
  })

  test('end a fetch whose answer does not arrive or does not end', async ({ fetcher, serve }) => {
    const loose = fetcher({ ...LOOSE, timeoutMs: 100 })
    const silent = await serve(() => {})
    const endless = await serve((_request, response) => void response.write('x'))
    expect(await describeOutcome(loose(silent.origin))).toBe('slow')
    expect(await describeOutcome(loose(endless.origin))).toBe('slow')
  })

  test('do not hide that a server is unreachable', async ({ fetcher, serve }) => {
    const gone = await serve(() => {})
    await gone.close()
    expect(await describeOutcome(fetcher(LOOSE)(gone.origin))).toBe('unreachable')
    const nowhere = fetcher({ ...LOOSE, resolve: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await describeOutcome(nowhere('http://nowhere.example/'))).toBe('unreachable')
  })
})
