import { createUser } from '../../src/users/users.ts'
import { test as base } from './fixtures.ts'
import { csrfIn } from './protocol.ts'
import { nextIp, type Side } from './timing.ts'

/** Users, pages or links that samples take in turn. */
const POOL = 16
export const pick = <T>(pool: readonly T[], sample: number): T => pool[sample % pool.length] as T
/** A pool for each side. */
export const makePools = async <T>(
  make: (side: Side, i: number) => Promise<T>,
  size = POOL,
): Promise<Record<Side, T[]>> => {
  const makeAll = (side: Side) => Promise.all(Array.from({ length: size }, (_, i) => make(side, i)))
  return { known: await makeAll('known'), unknown: await makeAll('unknown') }
}

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

/** `test` with requests of which each comes from another network. */
export const test = base
  .extend(
    'send',
    { scope: 'file' },
    ({ app }) =>
      (path: string, { headers, ...init }: Init = {}): Promise<Response> =>
        fetch(`${app.origin}${path}`, {
          redirect: 'manual',
          ...init,
          headers: { ...headers, 'x-forwarded-for': nextIp() },
        }),
  )
  /** Calls an operation with a token. */
  .extend(
    'call',
    { scope: 'file' },
    ({ send, tenant }) =>
      (path: string, token: string, body: object): Promise<Response> =>
        send(`/${tenant}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: JSON.stringify(body),
        }),
  )
  /** Opens a hosted page; returns its path and a function that posts its forms. */
  .extend('openForm', { scope: 'file' }, ({ newBrowser, send }) => async (start: string) => {
    const browser = newBrowser()
    const { path: landed, response } = await browser.open(start)
    const path = landed || start
    const csrf = csrfIn(await response.text())
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const post = (form: Record<string, string>, below = ''): Promise<Response> =>
      send(`${path}${below}`, {
        method: 'POST',
        headers: { cookie },
        body: new URLSearchParams({ csrf, ...form }),
      })
    return { path, post }
  })
  /** An address of a new user, or of nobody; a user is created in both cases, so that as much precedes the sample. */
  .extend('newAddress', { scope: 'file' }, ({ ctx, email }) => {
    let count = 0
    return async (side: Side): Promise<string> => {
      const address = email(`${side}-${++count}`)
      await createUser(ctx, { email: side === 'known' ? address : `other-${address}`, emailVerified: true })
      return address
    }
  })
  /** The same with a phone number. */
  .extend('newNumber', { scope: 'file' }, ({ ctx }) => {
    let count = 1_000_000
    return async (side: Side): Promise<string> => {
      const number = `+4179${++count}`
      const phoneNumber = side === 'known' ? number : `+4178${count}`
      await createUser(ctx, { phoneNumber, phoneNumberVerified: true })
      return number
    }
  })
