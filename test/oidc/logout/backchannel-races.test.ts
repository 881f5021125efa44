import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { cascadeSessionEnd } from '../../../src/access/revocation/revocation.ts'
import { endSessions } from '../../../src/access/revocation/session-revocation.sql.ts'
import { type Ctx, createPlatformCtx } from '../../../src/context/context.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { deleteUser, lockUser } from '../../../src/users/users.ts'
import { dbFor, type Sql } from '../../support/database.ts'
import { test as base } from '../../support/fixtures.ts'
import { untilWaiting, whileLocked } from '../../support/locks.ts'
import { answerIn, type TokenAnswer } from '../../support/protocol.ts'

/** `test` with a client whose logout tokens stay queued: nothing delivers them. */
const test = base
  // No deliveries run here, so that the queue can be read.
  .extend('listening', { scope: 'file' }, ({ newClient }) =>
    newClient({ backchannelLogoutUrl: 'https://rp.example.com/logged-out' }),
  )
  .extend('silent', { scope: 'file' }, ({ newClient }) => newClient())
  /** Signs a user in at `silent` and issues a code to `listening`, which has no token of the session yet. */
  .extend('withCode', { scope: 'file' }, ({ newPerson, newBrowser, oidc, listening, silent }) => async () => {
    const user = await newPerson()
    const browser = newBrowser()
    const { location } = await oidc.signIn(browser, user.email, {}, silent)
    const { body } = await oidc.exchange(answerIn(location).code as string, {}, silent)
    const sid = String(decodeJwt(body.id_token as string).sid)
    const answer = await browser.fetch(oidc.authorizePath({ prompt: 'none' }, listening))
    return { user, sid, code: answerIn(answer.headers.get('location')).code as string }
  })
  .extend(
    'queuedFor',
    { scope: 'file' },
    ({ tenant }) =>
      async (sessionId: string) =>
        (await dbFor(tenant).logoutDelivery.findMany({ where: { tenantId: tenant, sessionId } })).map(
          ({ clientId, userId }) => ({ clientId, userId }),
        ),
  )
  // The redemption has locked user and session and waits for the client.
  .extend(
    'holdClient',
    { scope: 'file' },
    ({ tenant, listening }) =>
      (sql: Sql) =>
        sql('SELECT FROM "Client" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, listening.id]),
  )

/**
 * Starts `first`, then `second`, while a transaction holds the lock that `first` waits for; commits once both
 * wait.
 */
const inOrder = <A, B>(
  lock: (sql: Sql) => Promise<unknown>,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> =>
  whileLocked(
    lock,
    async () => {
      const started = first()
      await untilWaiting(1)
      return Promise.all([started, second()])
    },
    2,
  )

describe('a code that is redeemed while its session ends', () => {
  test.for<[string, (ctx: Ctx, sid: string, userId: string) => Promise<unknown>]>([
    ['session ends', (ctx, sid) => endSession(ctx, sid, 'logout')],
    ['user is locked', (ctx, _sid, userId) => lockUser(ctx, userId)],
    ['user is deleted', (ctx, _sid, userId) => deleteUser(ctx, userId)],
  ])(
    'is redeemed and the client is notified when the %s afterwards',
    async ([_name, end], { tenant, oidc, listening, withCode, queuedFor, holdClient }) => {
      const { user, sid, code } = await withCode()
      const [answer] = await inOrder(
        holdClient,
        () => oidc.exchange(code, {}, listening),
        () => end(createPlatformCtx(tenant), sid, user.id),
      )
      expect(answer.status).toBe(200)
      expect(await queuedFor(sid)).toEqual([{ clientId: listening.id, userId: user.id }])
    },
  )

  test('is rejected after the end of the session and the client is not notified', async ({
    tenant,
    oidc,
    listening,
    withCode,
    queuedFor,
  }) => {
    const { sid, code } = await withCode()
    const now = new Date()
    let exchanged: Promise<TokenAnswer> | undefined
    await createPlatformCtx(tenant).db.transaction(async (tx) => {
      const ended = await endSessions(tx, { kind: 'session', sessionId: sid }, { now, reason: 'logout' })
      exchanged = oidc.exchange(code, {}, listening)
      await untilWaiting(1)
      await cascadeSessionEnd(tx, createPlatformCtx(tenant), ended, {
        now,
        reason: 'logout',
      })
    })
    expect(await exchanged).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await queuedFor(sid)).toEqual([])
  })

  test('is either redeemed with a logout token queued or rejected with none', async ({
    tenant,
    oidc,
    listening,
    withCode,
    queuedFor,
  }) => {
    for (let round = 0; round < 20; round++) {
      const { user, sid, code } = await withCode()
      const [answer] = await Promise.all([
        oidc.exchange(code, {}, listening),
        sleep(round % 5).then(() => endSession(createPlatformCtx(tenant), sid, 'logout')),
      ])
      expect([200, 400]).toContain(answer.status)
      expect(await queuedFor(sid)).toEqual(
        answer.status === 200 ? [{ clientId: listening.id, userId: user.id }] : [],
      )
    }
  })
})
