import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { sha256 } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor, type Sql } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { lockUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { whileHeld } from '../support/locks.ts'
import { decide, enterCode, pollWith, startDevice } from './device-flow.ts'
import {
  authorizePath,
  Browser,
  makeClient,
  makeUser,
  type Provider,
  signInAt,
  startProvider,
  type TokenAnswer,
  userinfoOf,
} from './provider.ts'

let provider: Provider
let tenant: string
let tv: Awaited<ReturnType<typeof makeClient>>
let user: User
let browser: Browser
let count = 0
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())
beforeEach(async () => {
  tenant = await newTenant()
  tv = await makeClient(tenant, { appType: 'native', callbacks: [] })
  const email = `person${count++}@example.com`
  user = await makeUser(tenant, email)
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, await makeClient(tenant)), email)
})

type Device = { code: string; shown: string }
async function newDevice(): Promise<Device> {
  const { body } = await startDevice(provider, tenant, tv)
  return { code: body.device_code as string, shown: body.user_code as string }
}
async function approved(): Promise<Device> {
  const device = await newDevice()
  await decide(browser, tenant, device.shown, 'allow')
  return device
}
const poll = ({ code }: Device) => pollWith(provider, tenant, tv, code)
const stored = ({ code }: Device) => {
  const where = { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(code) } }
  return dbFor(tenant).deviceCode.findUnique({ where })
}
const grants = () => dbFor(tenant).grant.count({ where: { tenantId: tenant } })
const all = <T>(times: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, work))
const errorsOf = (answers: TokenAnswer[]): Set<string> =>
  new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error as string))
const sessionOf = async () =>
  (await dbFor(tenant).session.findFirstOrThrow({ where: { tenantId: tenant, userId: user.id } })).id

test('of 50 polls at once after the approval, one gets the tokens', async () => {
  const device = await approved()
  const answers = await all(50, () => poll(device))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(errorsOf(answers)).toEqual(new Set(['invalid_grant']))
  expect(await grants()).toBe(1)
})

test('of 50 polls at once before it, one is punctual', async () => {
  const device = await newDevice()
  const answers = await all(50, () => poll(device))
  const pending = answers.filter(({ body }) => body.error === 'authorization_pending')
  expect(pending).toHaveLength(1)
  expect(errorsOf(answers)).toEqual(new Set(['authorization_pending', 'slow_down']))
  expect((await stored(device))?.intervalSeconds).toBe(5 + 49 * 5)
})

test('polls and the approval at once neither lose it nor give it twice', async () => {
  for (let round = 0; round < 5; round++) {
    const device = await newDevice()
    const asked = await enterCode(browser, tenant, device.shown)
    const [answers] = await Promise.all([
      all(10, () => poll(device)),
      browser.submit(asked, { step: 'allow' }),
    ])
    const early = answers.filter(({ status }) => status === 200).length
    expect(early).toBeLessThanOrEqual(1)
    expect((await poll(device)).status).toBe(early === 1 ? 400 : 200)
    expect(await grants()).toBe(round + 1)
  }
})

test('allowed and denied at once: one of them it is, and the other one is told so', async () => {
  for (let round = 0; round < 5; round++) {
    const device = await newDevice()
    // Two tabs, each with a question of its own.
    const [first, second] = [
      await enterCode(browser, tenant, device.shown),
      await enterCode(browser, tenant, device.shown),
    ]
    const ends = await Promise.all([
      browser.submit(first, { step: 'allow' }),
      browser.submit(second, { step: 'deny' }),
    ])
    expect(ends.map(({ response }) => response.status).sort()).toEqual([200, 410])
    const isAllowed = ends[0].response.status === 200
    const { status, body } = await poll(device)
    expect([status, body.error]).toEqual(isAllowed ? [200, undefined] : [400, 'access_denied'])
    const where = { tenantId: tenant, type: { in: ['device.approved', 'device.denied'] } }
    expect(await dbFor(tenant).event.count({ where })).toBe(round + 1)
  }
})

test('the end of the session and polls neither deadlock nor leave a token that works', async () => {
  const device = await approved()
  const [answer] = await Promise.all([
    poll(device),
    endSession(platformCtx(tenant), await sessionOf(), 'logout'),
  ])
  expect([200, 400]).toContain(answer.status)
  // Offline access outlives the session (OIDC Core, section 11); without a grant there is nothing.
  expect(await grants()).toBe(answer.status === 200 ? 1 : 0)
})

test('a lock and polls neither deadlock nor leave a token that works (security 29)', async () => {
  const device = await approved()
  const [answer] = await Promise.all([poll(device), lockUser(platformCtx(tenant), user.id)])
  if (answer.status === 200)
    expect((await userinfoOf(provider, tenant, answer.body.access_token as string)).status).toBe(401)
  expect((await poll(device)).body.error).toBe('invalid_grant')
})

const lock = (sql: Sql) =>
  sql('UPDATE "User" SET "locked" = true WHERE "tenantId" = $1 AND "id" = $2', [tenant, user.id])

// The embedded database has one connection, on which nothing can be held while something else runs.
describe.runIf(inject('database').kind === 'postgres')('what waits for a lock', () => {
  test('an approval is then refused (security 29)', async () => {
    const device = await newDevice()
    const asked = await enterCode(browser, tenant, device.shown)
    const end = await whileHeld(lock, () => browser.submit(asked, { step: 'allow' }))
    expect(end.path).not.toContain('/approved')
    expect((await stored(device))?.status).toBe('pending')
  })

  test('a poll is then refused (security 29)', async () => {
    const device = await approved()
    const answer = await whileHeld(lock, () => poll(device))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await grants()).toBe(0)
  })

  test('polls that held on for one another are one redemption', async () => {
    const device = await approved()
    const hold = (sql: Sql) =>
      sql('SELECT 1 FROM "User" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, user.id])
    const answers = await whileHeld(hold, () => all(8, () => poll(device)), 8)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    expect(await grants()).toBe(1)
  })
})
