import { describe, expect, vi } from 'vitest'
import { parseEnv } from '../../src/core/env.ts'
import { guardedFetch } from '../../src/core/network/fetcher.ts'
import { describeOutcome, LOOSE, test } from '../support/fetch-targets.ts'

// Tests may fetch from this machine; here it is as in production.
vi.hoisted(() => {
  process.env.FETCH_PRIVATE = '0'
})

describe('FETCH_PRIVATE', () => {
  test('is on by default in development only', () => {
    const production = {
      NODE_ENV: 'production',
      BASE_URL: 'https://id.example.com',
      DATABASE_URL: 'postgresql://db/vestibule',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64url'),
      SMTP_URL: 'smtp://mail.example.com',
    }
    const of = (source: Record<string, string>) => {
      const parsed = parseEnv({ DATA_DIR: process.env.DATA_DIR, ...source })
      return 'env' in parsed ? parsed.env.fetchPrivate : parsed.issues
    }
    expect([of({}), of({ FETCH_PRIVATE: '0' })]).toEqual([true, false])
    expect([of({ NODE_ENV: 'test' }), of({ NODE_ENV: 'test', FETCH_PRIVATE: '1' })]).toEqual([false, true])
    expect([of(production), of({ ...production, FETCH_PRIVATE: '1' })]).toEqual([false, true])
  })

  test('set to 0 rejects private addresses in the fetches of the process', async ({ inside }) => {
    expect(await describeOutcome(guardedFetch(`${inside.origin}/`))).toBe('refused')
    expect(inside.seen).toEqual([])
  })
})

describe('the proxies of the environment', () => {
  test('are not used', async ({ fetcher, serve }) => {
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
