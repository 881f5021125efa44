import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { revokeUserConsent } from '../../src/consents/consents.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor, type Sql } from '../../src/db.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { newTenant } from '../support/actors.ts'
import { untilWaiting, whileHeld } from '../support/locks.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
  userinfoOf,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let count = 0

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
})
afterAll(() => provider.close())

async function signedIn() {
  const email = `person${count++}@example.com`
  const user = await makeUser(tenant, email)
  const browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), email)
  const authorize = async (scope = 'openid offline_access') =>
    answerIn(
      (await browser.fetch(authorizePath(tenant, client, { prompt: 'none', scope }))).headers.get('location'),
    )
  return { user, browser, authorize }
}

/** As many as there are connections left: each has read the row as it was before, and waits for it. */
const eight = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 8 }, work))
const holdUser = (userId: string) => (sql: Sql) =>
  sql('SELECT 1 FROM "User" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, userId])
const lock = (userId: string) => (sql: Sql) =>
  sql('UPDATE "User" SET "locked" = true WHERE "tenantId" = $1 AND "id" = $2', [tenant, userId])

// The embedded database has one connection, on which nothing can be held while something else runs.
describe.runIf(inject('database').kind === 'postgres')('what truly happens at once', () => {
  test('redemptions of one code make one grant (security row 22)', async () => {
    const { user, authorize } = await signedIn()
    const { code = '' } = await authorize()
    const redeem = () => exchange(provider, tenant, client, code)
    const answers = await whileHeld(holdUser(user.id), () => eight(redeem), 8)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    expect(new Set(answers.filter(({ status }) => status === 400).map(({ body }) => body.error))).toEqual(
      new Set(['invalid_grant']),
    )
    expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant, userId: user.id } })).toBe(1)
  })

  test('uses of one refresh token rotate it once, and all get the same successor (security row 20)', async () => {
    const { authorize } = await signedIn()
    const { body } = await exchange(provider, tenant, client, (await authorize()).code as string)
    const token = body.refresh_token as string
    const id = token.split('.')[0] as string
    const answers = await whileHeld(
      (sql) => sql('SELECT 1 FROM "Grant" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, id]),
      () => eight(() => refreshWith(provider, tenant, client, token)),
      8,
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(answers.map(({ body: { refresh_token: successor } }) => successor)).size).toBe(1)
    const grant = await dbFor(tenant).grant.findUniqueOrThrow({
      where: { tenantId_id: { tenantId: tenant, id } },
    })
    expect(grant.generation).toBe(1)
    const where = { tenantId: tenant, type: 'grant.refreshed', subjectIds: { has: id } }
    expect(await dbFor(tenant).event.count({ where })).toBe(1)
  })

  test('a code waits for the lock of its user, and is then refused (security row 29)', async () => {
    const { user, authorize } = await signedIn()
    const { code = '' } = await authorize()
    const answer = await whileHeld(lock(user.id), () => exchange(provider, tenant, client, code))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant, userId: user.id } })).toBe(0)
  })

  test('authorize waits for the lock of its user, and issues no code', async () => {
    const { user, authorize } = await signedIn()
    const answer = await whileHeld(lock(user.id), () => authorize())
    expect(answer).toMatchObject({ error: 'login_required' })
  })

  test('security 29: authorize waits for a consent that is being taken back, and issues no code', async () => {
    const asking = await makeClient(tenant, { requireConsent: true })
    const { user, browser } = await signedIn()
    const agree = async () => {
      const asked = await browser.open(authorizePath(tenant, asking))
      await browser.submit({ html: await asked.response.text(), path: asked.path }, { step: 'allow' })
    }
    const atOnce = (path: string) =>
      whileHeld(
        holdUser(user.id),
        async () => {
          const takingBack = revokeUserConsent(platformCtx(tenant), user.id, asking.id, {
            assertMay: () => {},
          })
          await untilWaiting(1)
          const [answer] = await Promise.all([browser.fetch(path), takingBack])
          return answer
        },
        2,
      )
    await agree()
    const quiet = await atOnce(authorizePath(tenant, asking, { prompt: 'none' }))
    expect(answerIn(quiet.headers.get('location'))).toMatchObject({ error: 'login_required' })
    await agree()
    // By POST there are pages, even where nobody has to be asked.
    const [path, query] = authorizePath(tenant, asking).split('?')
    const kept = await browser.post(path as string, Object.fromEntries(new URLSearchParams(query)))
    expect((await atOnce(kept.headers.get('location') as string)).status).toBe(410)
    const where = { tenantId: tenant, userId: user.id, clientId: asking.id }
    expect(await dbFor(tenant).authorizationCode.count({ where })).toBe(0)
  })

  test('a code waits for the end of its session, and is then refused', async () => {
    const { user, authorize } = await signedIn()
    const { code = '' } = await authorize()
    const session = await dbFor(tenant).session.findFirstOrThrow({
      where: { tenantId: tenant, userId: user.id },
    })
    const end = (sql: Sql) =>
      sql('UPDATE "Session" SET "endedAt" = now() WHERE "tenantId" = $1 AND "id" = $2', [tenant, session.id])
    const answer = await whileHeld(end, () => exchange(provider, tenant, client, code))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant, userId: user.id } })).toBe(0)
  })

  test('ends of the session and redemptions of its codes neither deadlock nor leave a token that works', async () => {
    for (let round = 0; round < 10; round++) {
      const { user, authorize } = await signedIn()
      const { code = '' } = await authorize('openid')
      const session = await dbFor(tenant).session.findFirstOrThrow({
        where: { tenantId: tenant, userId: user.id },
      })
      const [answer] = await Promise.all([
        exchange(provider, tenant, client, code),
        endSession(platformCtx(tenant), session.id, 'logout'),
      ])
      expect([200, 400]).toContain(answer.status)
      if (answer.status === 200)
        expect((await userinfoOf(provider, tenant, answer.body.access_token as string)).status).toBe(401)
    }
  })
})
