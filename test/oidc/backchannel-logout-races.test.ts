import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor, inTransaction, type Sql } from '../../src/db.ts'
import { endOne } from '../../src/sessions/sessions.sql.ts'
import { endSession, finishEnding } from '../../src/sessions/sessions.ts'
import { deleteUser, lockUser } from '../../src/users/users.ts'
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
  signInAt,
  startProvider,
} from './provider.ts'

// Nothing delivers here: what is queued stays to be seen.
let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let silent: Awaited<ReturnType<typeof makeClient>>
let count = 0

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant, { backchannelLogoutUrl: 'https://rp.example.com/logged-out' })
  silent = await makeClient(tenant)
})
afterAll(() => provider.close())

/** Somebody who is signed in, and a code for the client, which has no token of this session yet. */
async function withCode() {
  const email = `person${count++}@example.com`
  const user = await makeUser(tenant, email)
  const browser = new Browser(provider)
  const { location } = await signInAt(browser, authorizePath(tenant, silent), email)
  const { body } = await exchange(provider, tenant, silent, answerIn(location).code as string)
  const sid = String(decodeJwt(body.id_token as string).sid)
  const answer = await browser.fetch(authorizePath(tenant, client, { prompt: 'none' }))
  return { user, sid, code: answerIn(answer.headers.get('location')).code as string }
}

const queuedFor = async (sessionId: string) =>
  (await dbFor(tenant).logoutDelivery.findMany({ where: { tenantId: tenant, sessionId } })).map(
    ({ clientId, userId }) => ({ clientId, userId }),
  )

/** Starts `first`, then `second`, while a transaction holds what `first` waits for; lets go once both wait. */
const inOrder = <A, B>(
  hold: (sql: Sql) => Promise<unknown>,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> =>
  whileHeld(
    hold,
    async () => {
      const started = first()
      await untilWaiting(1)
      return Promise.all([started, second()])
    },
    2,
  )

// The embedded database has one connection, on which nothing can be held while something else runs.
describe.runIf(inject('database').kind === 'postgres')(
  'a code that is redeemed while its session ends',
  () => {
    // The redemption holds user and session by then, and waits for the client.
    const holdClient = (sql: Sql) =>
      sql('SELECT FROM "Client" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, client.id])

    test.each<[string, (sid: string, userId: string) => Promise<unknown>]>([
      ['session ends', (sid) => endSession(platformCtx(tenant), sid, 'logout')],
      ['user is locked', (_sid, userId) => lockUser(platformCtx(tenant), userId)],
      ['user is deleted', (_sid, userId) => deleteUser(platformCtx(tenant), userId)],
    ])('first: it is, and the client is told when the %s', async (_name, end) => {
      const { user, sid, code } = await withCode()
      const [answer] = await inOrder(
        holdClient,
        () => exchange(provider, tenant, client, code),
        () => end(sid, user.id),
      )
      expect(answer.status).toBe(200)
      expect(await queuedFor(sid)).toEqual([{ clientId: client.id, userId: user.id }])
    })

    test('afterwards: it is refused, and the client, which has nothing, is not told', async () => {
      const { sid, code } = await withCode()
      const now = new Date()
      let exchanged: ReturnType<typeof exchange> | undefined
      await inTransaction(async (sql) => {
        const ended = await endOne(sql, tenant, sid, { now, reason: 'logout' })
        exchanged = exchange(provider, tenant, client, code)
        await untilWaiting(1)
        await finishEnding(sql, platformCtx(tenant), ended ? [ended] : [], 'logout', now)
      })
      expect(await exchanged).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
      expect(await queuedFor(sid)).toEqual([])
    })

    test('at any time: either it is and the client is told, or neither', async () => {
      for (let round = 0; round < 20; round++) {
        const { user, sid, code } = await withCode()
        const [answer] = await Promise.all([
          exchange(provider, tenant, client, code),
          sleep(round % 5).then(() => endSession(platformCtx(tenant), sid, 'logout')),
        ])
        expect([200, 400]).toContain(answer.status)
        expect(await queuedFor(sid)).toEqual(
          answer.status === 200 ? [{ clientId: client.id, userId: user.id }] : [],
        )
      }
    })
  },
)
