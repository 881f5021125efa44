import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { lockUser } from '../../../src/users/users.ts'
import { dbFor, type Sql } from '../../support/database.ts'
import { test as base } from '../../support/devices.ts'
import { whileLocked } from '../../support/locks.ts'
import type { TokenAnswer } from '../../support/protocol.ts'

const concurrently = <T>(times: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, work))
const errorsOf = (answers: TokenAnswer[]): Set<string> =>
  new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error as string))

const test = base.extend(
  'lockInSql',
  ({ tenant, user }) =>
    (sql: Sql) =>
      sql('UPDATE "User" SET "locked" = true WHERE "tenantId" = $1 AND "id" = $2', [tenant, user.id]),
)

describe('concurrent requests of a device', () => {
  test('issue the tokens to one of 50 polls after the approval', async ({
    newApprovedDevice,
    poll,
    countGrants,
  }) => {
    const device = await newApprovedDevice()
    const answers = await concurrently(50, () => poll(device))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(errorsOf(answers)).toEqual(new Set(['invalid_grant']))
    expect(await countGrants()).toBe(1)
  })

  test('count one of 50 polls before the decision as on time', async ({ newDevice, poll, findRow }) => {
    const device = await newDevice()
    const answers = await concurrently(50, () => poll(device))
    const pending = answers.filter(({ body }) => body.error === 'authorization_pending')
    expect(pending).toHaveLength(1)
    expect(errorsOf(answers)).toEqual(new Set(['authorization_pending', 'slow_down']))
    expect((await findRow(device))?.intervalSeconds).toBe(5 + 49 * 5)
  })

  test('issue the tokens once when polls meet the approval', async ({
    signedIn,
    newDevice,
    enter,
    poll,
    countGrants,
  }) => {
    for (let round = 0; round < 5; round++) {
      const device = await newDevice()
      const asked = await enter(device, signedIn)
      const [answers] = await Promise.all([
        concurrently(10, () => poll(device)),
        signedIn.submit(asked, { step: 'allow' }),
      ])
      const early = answers.filter(({ status }) => status === 200).length
      expect(early).toBeLessThanOrEqual(1)
      expect((await poll(device)).status).toBe(early === 1 ? 400 : 200)
      expect(await countGrants()).toBe(round + 1)
    }
  })

  test('accept one decision of an approval and a denial and reject the other', async ({
    tenant,
    signedIn,
    newDevice,
    enter,
    poll,
  }) => {
    for (let round = 0; round < 5; round++) {
      const device = await newDevice()
      // Two tabs, each with its own interaction.
      const [first, second] = [await enter(device, signedIn), await enter(device, signedIn)]
      const ends = await Promise.all([
        signedIn.submit(first, { step: 'allow' }),
        signedIn.submit(second, { step: 'deny' }),
      ])
      expect(ends.map(({ response }) => response.status).sort()).toEqual([200, 410])
      const isAllowed = ends[0].response.status === 200
      const { status, body } = await poll(device)
      expect([status, body.error]).toEqual(isAllowed ? [200, undefined] : [400, 'access_denied'])
      const where = { tenantId: tenant, type: { in: ['device.approved', 'device.denied'] } }
      expect(await dbFor(tenant).event.count({ where })).toBe(round + 1)
    }
  })

  test('do not deadlock when a poll races the end of the session', async ({
    tenant,
    newApprovedDevice,
    poll,
    findSessionId,
    countGrants,
  }) => {
    const device = await newApprovedDevice()
    const [answer] = await Promise.all([
      poll(device),
      endSession(createPlatformCtx(tenant), await findSessionId(), 'logout'),
    ])
    expect([200, 400]).toContain(answer.status)
    // Offline access outlives the session (OIDC Core, section 11).
    expect(await countGrants()).toBe(answer.status === 200 ? 1 : 0)
  })

  test('leave no valid token when a poll races the lock of the user', async ({
    tenant,
    oidc,
    user,
    newApprovedDevice,
    poll,
  }) => {
    const device = await newApprovedDevice()
    const [answer] = await Promise.all([poll(device), lockUser(createPlatformCtx(tenant), user.id)])
    if (answer.status === 200)
      expect((await oidc.userinfo(answer.body.access_token as string)).status).toBe(401)
    expect((await poll(device)).body.error).toBe('invalid_grant')
  })
})

describe('a request that waits for the lock of the user row', () => {
  test('rejects the approval of a user who was locked', async ({
    signedIn,
    newDevice,
    enter,
    findRow,
    lockInSql,
  }) => {
    const device = await newDevice()
    const asked = await enter(device, signedIn)
    const end = await whileLocked(lockInSql, () => signedIn.submit(asked, { step: 'allow' }))
    expect(end.path).not.toContain('/approved')
    expect((await findRow(device))?.status).toBe('pending')
  })

  test('rejects the poll of a user who was locked', async ({
    newApprovedDevice,
    poll,
    countGrants,
    lockInSql,
  }) => {
    const device = await newApprovedDevice()
    const answer = await whileLocked(lockInSql, () => poll(device))
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await countGrants()).toBe(0)
  })

  test('redeems the device code once for 8 polls', async ({
    tenant,
    user,
    newApprovedDevice,
    poll,
    countGrants,
  }) => {
    const device = await newApprovedDevice()
    const lock = (sql: Sql) =>
      sql('SELECT 1 FROM "User" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, user.id])
    const answers = await whileLocked(lock, () => concurrently(8, () => poll(device)), 8)
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    expect(await countGrants()).toBe(1)
  })
})
