import { describe, expect } from 'vitest'
import { revokeUserConsent } from '../../../src/consents/consents.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { dbFor, type Sql } from '../../support/database.ts'
import { lockUserRow, setLocked, untilWaiting, whileLocked } from '../../support/locks.ts'
import { answerIn } from '../../support/protocol.ts'
import { test } from '../../support/visitor.ts'

const OFFLINE = { scope: 'openid offline_access' }
/** As many as there are connections left: each has read the row as it was before, and waits for it. */
const eight = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 8 }, work))

describe('the token endpoint', () => {
  test('creates one grant for concurrent redemptions of one code', async ({ tenant, oidc, ownVisitor }) => {
    const { user, authorize } = ownVisitor
    const { code = '' } = await authorize(OFFLINE)
    const redeem = () => oidc.exchange(code)
    const answers = await whileLocked(lockUserRow(tenant, user.id), () => eight(redeem), 8)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    expect(new Set(answers.filter(({ status }) => status === 400).map(({ body }) => body.error))).toEqual(
      new Set(['invalid_grant']),
    )
    expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant, userId: user.id } })).toBe(1)
  })

  test('rotates a refresh token once and returns the same successor to concurrent uses', async ({
    tenant,
    oidc,
    ownVisitor,
  }) => {
    const { authorize } = ownVisitor
    const { body } = await oidc.exchange((await authorize(OFFLINE)).code as string)
    const token = body.refresh_token as string
    const id = token.split('.')[0] as string
    const answers = await whileLocked(
      (sql) => sql('SELECT 1 FROM "Grant" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, id]),
      () => eight(() => oidc.refresh(token)),
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

  test('rejects a code after the lock of its user has been committed', async ({
    tenant,
    oidc,
    ownVisitor,
  }) => {
    const { user, authorize } = ownVisitor
    const { code = '' } = await authorize(OFFLINE)
    const answer = await whileLocked(setLocked(tenant, user.id), () => oidc.exchange(code))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant, userId: user.id } })).toBe(0)
  })

  test('rejects a code after the end of its session has been committed', async ({
    tenant,
    oidc,
    ownVisitor,
  }) => {
    const { user, authorize } = ownVisitor
    const { code = '' } = await authorize(OFFLINE)
    const session = await dbFor(tenant).session.findFirstOrThrow({
      where: { tenantId: tenant, userId: user.id },
    })
    const end = (sql: Sql) =>
      sql('UPDATE "Session" SET "endedAt" = now() WHERE "tenantId" = $1 AND "id" = $2', [tenant, session.id])
    const answer = await whileLocked(end, () => oidc.exchange(code))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant, userId: user.id } })).toBe(0)
  })

  test('neither deadlocks nor leaves a valid token when a session ends while its code is redeemed', async ({
    tenant,
    oidc,
    newVisitor,
  }) => {
    for (let round = 0; round < 10; round++) {
      const { user, authorize } = await newVisitor()
      const { code = '' } = await authorize({ scope: 'openid' })
      const session = await dbFor(tenant).session.findFirstOrThrow({
        where: { tenantId: tenant, userId: user.id },
      })
      const [answer] = await Promise.all([
        oidc.exchange(code),
        endSession(createPlatformCtx(tenant), session.id, 'logout'),
      ])
      expect([200, 400]).toContain(answer.status)
      if (answer.status === 200)
        expect((await oidc.userinfo(answer.body.access_token as string)).status).toBe(401)
    }
  })

  test('rejects a code after the revocation of the consent has been committed', async ({
    tenant,
    newClient,
    oidc,
    ownVisitor,
  }) => {
    const asking = await newClient({ requireConsent: true })
    const { user, browser } = ownVisitor
    const asked = await browser.open(oidc.authorizePath({}, asking))
    await browser.submit({ html: await asked.response.text(), path: asked.path }, { step: 'allow' })
    const [answer] = await whileLocked(
      lockUserRow(tenant, user.id),
      async () => {
        const takingBack = revokeUserConsent(createPlatformCtx(tenant), user.id, asking.id, {
          assertAllowed: () => {},
        })
        await untilWaiting(1)
        // The consent is not revoked yet.
        const quiet = await browser.fetch(oidc.authorizePath({ prompt: 'none' }, asking))
        const { code = '' } = answerIn(quiet.headers.get('location'))
        expect(code).not.toBe('')
        return Promise.all([oidc.exchange(code, {}, asking), takingBack])
      },
      2,
    )
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const where = { tenantId: tenant, userId: user.id, clientId: asking.id }
    expect(await dbFor(tenant).grant.count({ where })).toBe(0)
  })

  test('rejects a code of a client that becomes public at the same time', async ({
    tenant,
    newClient,
    oidc,
    newVisitor,
  }) => {
    const changing = await newClient()
    const { authorize } = await newVisitor()
    const { code = '' } = await authorize(OFFLINE, changing)
    const change = (sql: Sql) =>
      sql(`UPDATE "Client" SET "appType" = 'native' WHERE "tenantId" = $1 AND "id" = $2`, [
        tenant,
        changing.id,
      ])
    const answer = await whileLocked(change, () => oidc.exchange(code, {}, changing))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant, clientId: changing.id } })).toBe(0)
  })

  test('rejects a code after the deletion of its client has been committed', async ({
    tenant,
    newClient,
    oidc,
    newVisitor,
  }) => {
    const leaving = await newClient()
    const { authorize } = await newVisitor()
    const { code = '' } = await authorize(OFFLINE, leaving)
    const remove = (sql: Sql) =>
      sql('DELETE FROM "Client" WHERE "tenantId" = $1 AND "id" = $2', [tenant, leaving.id])
    const answer = await whileLocked(remove, () => oidc.exchange(code, {}, leaving))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })
})
