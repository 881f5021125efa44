import { afterAll, describe, expect, vi } from 'vitest'
import { newId, randomToken, sha256 } from '../../src/core/crypto.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { createUserCode } from '../../src/oidc/device/user-codes.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, ownTokenFor, TENANT_SCOPES, tokenFor } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { startDevice } from '../support/device-flow.ts'
import { test as base } from '../support/fixtures.ts'
import { handleIn } from '../support/hosted-pages.ts'
import { csrfIn } from '../support/protocol.ts'

/**
 * The z value of the Mann-Whitney U test: above 0 when values of `one` tend to be larger. Ties get their mean
 * rank.
 */
function computeMannWhitneyZ(one: readonly number[], other: readonly number[]): number {
  const all = [
    ...one.map((value) => ({ value, isOne: true })),
    ...other.map((value) => ({ value, isOne: false })),
  ]
  all.sort((a, b) => a.value - b.value)
  let rankSum = 0
  for (let start = 0; start < all.length; ) {
    let end = start
    while (end < all.length && all[end]?.value === all[start]?.value) end++
    const meanRank = (start + 1 + end) / 2
    for (let i = start; i < end; i++) if (all[i]?.isOne) rankSum += meanRank
    start = end
  }
  const [n, m] = [one.length, other.length]
  const u = rankSum - (n * (n + 1)) / 2
  return (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}

/** Whether an operation is about something that exists. */
type Side = 'known' | 'unknown'
/** Prepares one sample, and returns the request that is timed. */
type Operation = (side: Side, sample: number) => Promise<() => Promise<Response>> | (() => Promise<Response>)

const SAMPLES = Number(process.env.TIMING_SAMPLES ?? 2000)
/** Not timed: caches are filled and connections opened. */
const WARM_UP = 20
/** Both sides alike exceed it once in 16,000 runs. */
const MAX_Z = 4
/** Messages are sent one after another; more of them would make all requests slow. */
const ROUNDS_BETWEEN_DELIVERIES = 10

/** `samples` of each side, in random order. */
function shuffleSides(samples: number): Side[] {
  const sides = Array.from({ length: 2 * samples }, (_, i): Side => (i % 2 === 0 ? 'known' : 'unknown'))
  for (let i = sides.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[sides[i], sides[j]] = [sides[j] as Side, sides[i] as Side]
  }
  return sides
}

/**
 * Compares the times of both sides (Mann-Whitney). Each round runs every operation, with a side that does not
 * depend on the round before or on the other operations, so that messages that are still being sent and the load of
 * the machine concern both sides alike.
 */
async function compareSides(operations: Record<string, Operation>): Promise<void> {
  const entries = Object.entries(operations).map(([name, operation]) => ({
    name,
    operation,
    sides: [...shuffleSides(WARM_UP), ...shuffleSides(SAMPLES)],
    times: { known: [] as number[], unknown: [] as number[] },
    statuses: { known: new Set<number>(), unknown: new Set<number>() },
  }))
  for (let round = 0; round < 2 * (WARM_UP + SAMPLES); round++) {
    for (const { operation, sides, times, statuses } of entries) {
      const side = sides[round] as Side
      const send = await operation(side, round)
      const start = performance.now()
      const response = await send()
      await response.arrayBuffer()
      if (round >= 2 * WARM_UP) times[side].push(performance.now() - start)
      statuses[side].add(response.status)
    }
    if (round % ROUNDS_BETWEEN_DELIVERIES === 0) await awaitDeliveries()
  }
  const results = entries.map(({ name, times, statuses }) => ({
    name,
    z: computeMannWhitneyZ(times.known, times.unknown),
    statuses: [[...statuses.known], [...statuses.unknown]],
    medians: [times.known, times.unknown].map((all) =>
      all.toSorted((a, b) => a - b)[SAMPLES >> 1]?.toFixed(2),
    ),
  }))
  process.stdout.write(
    `${results.map(({ name, z, medians }) => `${name}: z = ${z.toFixed(2)}, medians ${medians.join(' and ')} ms`).join('\n')}\n`,
  )
  for (const { name, statuses } of results) {
    expect(statuses[0], name).toHaveLength(1)
    expect(statuses[0], name).toEqual(statuses[1])
  }
  expect(results.filter(({ z }) => Math.abs(z) >= MAX_Z).map(({ name }) => name)).toEqual([])
}

let networks = 0
/** Each request comes from another network, so that no limit answers it. */
function nextIp(): string {
  networks++
  return `2a00:${(networks >> 12).toString(16)}:${(networks & 0xfff).toString(16)}::1`
}

/** Users, pages or links that samples take in turn. */
const POOL = 16
const pick = <T>(pool: readonly T[], sample: number): T => pool[sample % pool.length] as T
/** A pool for each side. */
const makePools = async <T>(
  make: (side: Side, i: number) => Promise<T>,
  size = POOL,
): Promise<Record<Side, T[]>> => {
  const makeAll = (side: Side) => Promise.all(Array.from({ length: size }, (_, i) => make(side, i)))
  return { known: await makeAll('known'), unknown: await makeAll('unknown') }
}

type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }

const servers = await vi.hoisted(async () => {
  process.env.TRUST_PROXY = '1'
  process.env.RATE_LIMIT = '1000000'
  const { startSlowMessageServers } = await import('../support/message-servers.ts')
  return startSlowMessageServers()
})
afterAll(() => servers.close())

const CHANGES = {
  request: `mutation ($email: EmailAddress!) { requestEmailChange(input: { email: $email }) { __typename } }`,
  confirm: `mutation ($email: EmailAddress!) { confirmEmailChange(input: { email: $email, code: "000000" }) { __typename } }`,
}

/** `test` with requests of which each comes from another network. */
const test = base
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
  /** A user with a phone number. */
  .extend('newNumber', { scope: 'file' }, ({ ctx }) => {
    let count = 1_000_000
    return async (side: Side): Promise<string> => {
      const number = `+4179${++count}`
      const phoneNumber = side === 'known' ? number : `+4178${count}`
      await createUser(ctx, { phoneNumber, phoneNumberVerified: true })
      return number
    }
  })
  /** Pages of sign-ins whose address was entered: the code of a known one was sent. */
  .extend('atCode', { scope: 'file' }, ({ openForm, oidc, newAddress }) => async (side: Side) => {
    const page = await openForm(oidc.authorizePath())
    const address = await newAddress(side)
    await page.post({ step: 'email', address })
    return { ...page, address }
  })
  /** Lets another code be requested at once. */
  .extend('endCooldown', { scope: 'file' }, ({ tenant }) => async (address: string, path: string) => {
    await sql(
      `UPDATE "Passcode" SET "sentAt" = "sentAt" - interval '1 minute', "sendCount" = 0
       WHERE "tenantId" = $1 AND "address" = $2`,
      [tenant, address],
    )
    await sql(
      `UPDATE "Interaction" SET "progress" = jsonb_set("progress", '{sentAt}', '"2020-01-01T00:00:00.000Z"')
       WHERE "tenantId" = $1 AND "handleHash" = $2`,
      [tenant, sha256(handleIn(path))],
    )
  })
  .extend(
    'resetAttempts',
    { scope: 'file' },
    ({ tenant }) =>
      (address: string) =>
        sql(
          `UPDATE "Passcode" SET "attempts" = 0, "failureCount" = 0 WHERE "tenantId" = $1 AND "address" = $2`,
          [tenant, address],
        ),
  )
  /** A user who has just signed in, and the token of the user. */
  .extend('newHolder', { scope: 'file' }, ({ tenant, spa, newPerson }) => async () => {
    const { id } = await newPerson()
    return { id, token: await ownTokenFor(tenant, id, spa.id) }
  })
  /** A link that was used, or one that never was. */
  .extend('newLink', { scope: 'file' }, ({ tenant, ctx, newPerson }) => async (side: Side) => {
    if (side === 'unknown') return randomToken()
    const { id } = await newPerson()
    const { token } = await createCredentialEnrollmentToken(ctx, id, { send: false })
    await sql(`UPDATE "EnrollmentToken" SET "usedAt" = now() WHERE "tenantId" = $1 AND "userId" = $2`, [
      tenant,
      id,
    ])
    return token
  })
  /** A user code that was used, or one that never was. */
  .extend('newUserCode', { scope: 'file' }, ({ app, tenant, newClient }) => async (side: Side) => {
    if (side === 'unknown') return createUserCode()
    const client = await newClient({ appType: 'native' })
    const { body } = await startDevice(app, tenant, client)
    await sql(`UPDATE "DeviceCode" SET "status" = 'denied' WHERE "tenantId" = $1 AND "clientId" = $2`, [
      tenant,
      client.id,
    ])
    return body.user_code as string
  })
  /** The id of a user of another tenant, or of nobody. */
  .extend('newForeignId', { scope: 'file' }, async () => {
    const other = await ctxFor(await newTenant())
    return async (side: Side) =>
      side === 'known' ? (await createUser(other, { name: 'Ada' })).id : newId('user')
  })

describe('the time of an answer to a sign-in', () => {
  test('does not depend on whether the address is known', { timeout: 3_600_000 }, async ({
    oidc,
    tenant,
    openForm,
    call,
    newAddress,
    newNumber,
    atCode,
    endCooldown,
    resetAttempts,
  }) => {
    const token = await tokenFor(tenant, TENANT_SCOPES, 3600)
    const starts = await makePools(() => openForm(oidc.authorizePath()))
    const [guessed, resent] = [await makePools(atCode), await makePools(atCode)]
    const mutation = `mutation ($to: String!) { authenticatePasscode(input: { to: $to, code: "000" }) { __typename } }`
    const operations: Record<string, Operation> = {
      'the page that sends a code to an e-mail address': async (side, sample) => {
        const address = await newAddress(side)
        return () => pick(starts.known, sample).post({ step: 'email', address })
      },
      'the page that sends a code to a phone number': async (side, sample) => {
        const address = await newNumber(side)
        return () => pick(starts.unknown, sample).post({ step: 'email', address })
      },
      'the page that sends another code': async (side, sample) => {
        const { address, path, post } = pick(resent[side], sample)
        await endCooldown(address, path)
        return () => post({ step: 'resend' }, '/code')
      },
      'the page that takes a code': async (side, sample) => {
        const { address, post } = pick(guessed[side], sample)
        await resetAttempts(address)
        return () => post({ step: 'code', code: '000' }, '/code')
      },
      'POST /passcodes/authenticate': async (side) => {
        const to = await newAddress(side)
        return () => call('/api/v1/passcodes/authenticate', token, { to, code: '000' })
      },
      'mutation authenticatePasscode': async (side) => {
        const to = await newAddress(side)
        return () => call('/graphql', token, { query: mutation, variables: { to } })
      },
    }
    await compareSides(operations)
  })
})

describe('the time of an answer about an identifier', () => {
  test('does not depend on whether it exists', { timeout: 3_600_000 }, async ({
    oidc,
    tenant,
    openForm,
    send,
    call,
    newAddress,
    newHolder,
    newLink,
    newUserCode,
    newForeignId,
  }) => {
    const token = await tokenFor(tenant, TENANT_SCOPES, 3600)
    const [links, codes, ids] = [
      await makePools(newLink),
      await makePools(newUserCode),
      await makePools(newForeignId),
    ]
    const holder = await newHolder()
    const pending = await makePools(async (side) => {
      const [email, { token }] = [await newAddress(side), await newHolder()]
      await call('/graphql', token, { query: CHANGES.request, variables: { email } })
      return { email, token }
    })
    const device = await openForm(`/${tenant}/device`)
    const operations: Record<string, Operation> = {
      'mutation requestEmailChange': async (side) => {
        await sql(`DELETE FROM "AddressChange" WHERE "tenantId" = $1 AND "userId" = $2`, [tenant, holder.id])
        const email = await newAddress(side)
        return () => call('/graphql', holder.token, { query: CHANGES.request, variables: { email } })
      },
      'mutation confirmEmailChange': async (side, sample) => {
        const { email, token } = pick(pending[side], sample)
        await sql(`UPDATE "AddressChange" SET "attempts" = 0 WHERE "tenantId" = $1 AND "address" = $2`, [
          tenant,
          email,
        ])
        await sql(`UPDATE "Passcode" SET "failureCount" = 0 WHERE "tenantId" = $1 AND "address" = $2`, [
          tenant,
          email,
        ])
        return () => call('/graphql', token, { query: CHANGES.confirm, variables: { email } })
      },
      'GET /enroll': (side, sample) => async () =>
        send(`/${tenant}/enroll?token=${pick(links[side], sample)}`),
      'POST /enroll/options': (side, sample) => () =>
        send(`/${tenant}/enroll/options`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ token: pick(links[side], sample) }),
        }),
      'the page that takes a user code': (side, sample) => () =>
        device.post({ user_code: pick(codes[side], sample) }),
      'GET /oidc/authorize with login_hint': async (side) => {
        const login_hint = await newAddress(side)
        return () => send(oidc.authorizePath({ login_hint }))
      },
      'GET /users/{userId} of another tenant': (side, sample) => () =>
        send(`/${tenant}/api/v1/users/${pick(ids[side], sample)}`, {
          headers: { authorization: `Bearer ${token}` },
        }),
    }
    await compareSides(operations)
  })
})
