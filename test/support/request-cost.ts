import { expect } from 'vitest'
import { type RawAnswer, rawRequest } from './attacks.ts'

/** The first requests of a kind run code that is not compiled yet. */
const MAX_REQUESTS = 60

/**
 * The processor time of one request, in milliseconds, server and sender together: the least of several requests, until
 * one is below `enough`.
 */
export async function measureCpu(work: () => Promise<unknown>, enough: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let count = 0; count < MAX_REQUESTS && best > enough; count++) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1e3)
  }
  return best
}

/** What a request may cost beyond the same request without the text that fills it. */
export const EXTRA_LIMIT_MS = 5

/** Expects that a filled request costs little more than a plain one and does not fail. */
export async function expectCheap(
  name: string,
  plainMs: number,
  send: () => Promise<{ status: number }>,
): Promise<void> {
  let status = 0
  const limit = plainMs + EXTRA_LIMIT_MS
  const cost = await measureCpu(async () => {
    status = (await send()).status
  }, limit)
  expect([500, 502].includes(status), `${name} is answered with ${status}`).toBe(false)
  expect(cost, `${name} takes ${cost} ms, and ${plainMs} ms without it`).toBeLessThan(limit)
}

/** Texts that are expensive for naive parsers of headers: each is repeated up to the limit. */
export const HEADER_UNITS = [
  'a',
  'a,',
  ' ',
  ',;=',
  'de;q=0.5,',
  '*/*,',
  '"\\',
  'a=%41;',
  'eyJh.',
  'https://a.b/',
]

let sent = 0
/** A network of its own for each request, so that none is rejected by a limit of networks. */
const nextAddress = (): string => {
  sent += 1
  return `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`
}

export type Target = {
  path: string
  headers?: Record<string, string>
  /** A form; without one, the request is a GET. */
  form?: Record<string, string>
  body?: string
}

const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends a request, by a network of its own unless the headers name one. */
export function sendTo(
  origin: string,
  { path, headers, form, body = form && String(new URLSearchParams(form)) }: Target,
  more: Record<string, string> = {},
): Promise<RawAnswer> {
  const all = { 'x-forwarded-for': nextAddress(), ...(form && FORM_TYPE), ...headers, ...more }
  return rawRequest(origin, path, all, body === undefined ? {} : { method: 'POST', body })
}

/** A target with one more parameter. */
export function fill({ form, path, ...target }: Target, name: string, value: string): Target {
  if (form) return { ...target, path, form: { ...form, [name]: value } }
  const [bare = '', query = ''] = path.split('?')
  const params = new URLSearchParams(query)
  params.set(name, value)
  return { ...target, path: `${bare}?${params}` }
}

/** The start of a text whose encoded form has at most this many bytes. */
export function cutEncoded(text: string, bytes: number): string {
  let cut = text.slice(0, bytes)
  for (let size = encodedLength(cut); size > bytes; size = encodedLength(cut))
    cut = cut.slice(0, Math.floor((cut.length * bytes) / size)).toWellFormed()
  return cut
}

const encodedLength = (text: string): number => new URLSearchParams({ '': text }).toString().length - 1
