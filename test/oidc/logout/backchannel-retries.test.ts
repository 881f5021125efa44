import type { RequestListener } from 'node:http'
import { decodeJwt } from 'jose'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { deleteClient, updateClient } from '../../../src/clients/client-changes.ts'
import { computePauseSeconds } from '../../../src/delivery/outbox/outbox.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { test } from '../../support/backchannel-logout.ts'
import { sql } from '../../support/database.ts'

describe('a client that does not accept its logout token', () => {
  test('receives a new token with each attempt until it accepts one', async ({
    signIn,
    receiver,
    platform,
    pathOf,
    listOutcomes,
    untilDelivered,
    untilFailed,
    endPause,
  }) => {
    const statuses = [500, 400, 204]
    receiver.answers.set(pathOf('one'), (_, response) => response.writeHead(statuses.shift() ?? 200).end())
    const person = await signIn()
    await endSession(platform, person.sid, 'logout')
    await untilFailed(1)
    await endPause()
    await untilFailed(2)
    await endPause()
    await untilDelivered()
    const tokens = receiver.heardAt(pathOf('one')).map(({ form }) => decodeJwt(form.logout_token as string))
    expect(new Set(tokens.map(({ jti }) => jti)).size).toBe(3)
    expect((await listOutcomes()).map(({ type, detail }) => ({ type, detail }))).toEqual([
      { type: 'logout.delayed', detail: { attempts: 1, status: 500, fault: null } },
      { type: 'logout.delivered', detail: { attempts: 3, status: 204, fault: null } },
    ])
  })

  test('is retried after pauses that grow from 2 seconds to an hour', async ({
    signIn,
    receiver,
    platform,
    tenant,
    pathOf,
    received,
    listQueued,
    untilFailed,
    untilDelivered,
  }) => {
    const statuses = [503]
    receiver.answers.set(pathOf('one'), (_, response) => response.writeHead(statuses.shift() ?? 200).end())
    const person = await signIn()
    await endSession(platform, person.sid, 'logout')
    const [first] = await received('one')
    await untilFailed()
    const nextAt = (await listQueued())[0]?.nextAt.getTime() ?? 0
    expect(nextAt).toBeGreaterThanOrEqual((first?.at ?? 0) + 2000)
    expect(nextAt).toBeLessThanOrEqual(Date.now() + 2500)
    // No session ends: the delivery is found when the queue is looked at again, which is every few seconds.
    await sql('UPDATE "LogoutDelivery" SET "nextAt" = now() WHERE "tenantId" = $1', [tenant])
    await received('one', 2)
    await untilDelivered()
    const pauses = Array.from({ length: 30 }, (_, index) => computePauseSeconds(index + 1))
    for (const [index, pause] of pauses.entries()) {
      const shortest = Math.min(2 * 3 ** index, 3600)
      expect(pause).toBeGreaterThanOrEqual(shortest)
      expect(pause).toBeLessThanOrEqual(shortest * 1.25)
    }
  })

  test.for<[string, RequestListener, string]>([
    ['hangs up', (request) => request.socket.destroy(), 'unreachable'],
    ['does not answer for ten seconds', () => {}, 'slow'],
  ])(
    'that %s is recorded with that reason when delivery ends',
    async ([_name, answer, fault], {
      signIn,
      receiver,
      platform,
      deliveries,
      pathOf,
      listOutcomes,
      untilDelivered,
      expireQueue,
    }) => {
      // Timeouts are 20 times shorter.
      const timeout = AbortSignal.timeout.bind(AbortSignal)
      const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 20))
      onTestFinished(() => limit.mockRestore())
      receiver.answers.set(pathOf('one'), answer)
      await deliveries.stop()
      const person = await signIn()
      await endSession(platform, person.sid, 'logout')
      await expireQueue()
      deliveries.start()
      await untilDelivered()
      expect((await listOutcomes()).map(({ type, detail }) => ({ type, detail }))).toEqual([
        { type: 'logout.failed', detail: { attempts: 1, status: null, fault } },
      ])
      expect(limit.mock.calls).toEqual([[10_000]])
    },
  )

  test('is given up after a day; events record the first failure and the end', async ({
    signIn,
    receiver,
    clients,
    platform,
    pathOf,
    listQueued,
    listOutcomes,
    untilDelivered,
    untilFailed,
    endPause,
    expireQueue,
  }) => {
    receiver.answers.set(pathOf('one'), (_, response) => response.writeHead(500).end())
    const person = await signIn()
    await endSession(platform, person.sid, 'logout')
    await untilFailed()
    const about = { subjectIds: [clients.one.id], userId: person.user.id, sessionId: person.sid }
    const delayed = { ...about, type: 'logout.delayed', detail: { attempts: 1, status: 500, fault: null } }
    expect(await listOutcomes()).toEqual([delayed])
    await endPause()
    await untilFailed(2)
    expect(await listOutcomes()).toEqual([delayed])
    const [row] = await listQueued()
    expect((row?.expiresAt.getTime() ?? 0) - (row?.createdAt.getTime() ?? 0)).toBe(86_400_000)
    await expireQueue()
    await endPause()
    await untilDelivered()
    expect(await listOutcomes()).toEqual([
      delayed,
      { ...about, type: 'logout.failed', detail: { attempts: 3, status: 500, fault: null } },
    ])
  })

  test('receives no request at the target of its redirect', async ({
    tenant,
    signIn,
    receiver,
    platform,
    pathOf,
    listOutcomes,
    untilFailed,
  }) => {
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.answers.set(pathOf('one'), (_, response) =>
        response.writeHead(status, { location: receiver.urlOf(pathOf('elsewhere')) }).end(),
      )
      const person = await signIn()
      await endSession(platform, person.sid, 'logout')
      await untilFailed()
      await sql('DELETE FROM "LogoutDelivery" WHERE "tenantId" = $1', [tenant])
    }
    expect(receiver.heardAt(pathOf('elsewhere'))).toEqual([])
    expect((await listOutcomes()).map(({ type, detail }) => [type, detail])).toEqual(
      Array(5).fill(['logout.delayed', { attempts: 1, status: null, fault: 'redirected' }]),
    )
  })

  test('is delivered when it answers 200 with an endless body', async ({
    signIn,
    receiver,
    platform,
    pathOf,
    sidsAt,
    untilDelivered,
  }) => {
    receiver.answers.set(pathOf('one'), (_, response) => {
      const chunk = Buffer.alloc(65_536)
      const talk = () => {
        if (!response.destroyed && response.write(chunk)) setImmediate(talk)
      }
      response.writeHead(200).on('drain', talk)
      talk()
    })
    const person = await signIn()
    await endSession(platform, person.sid, 'logout')
    await untilDelivered()
    expect(sidsAt('one')).toEqual([person.sid])
  })

  test('is not retried after it is deleted or has no backchannelLogoutUrl', async ({
    signIn,
    receiver,
    clients,
    platform,
    pathOf,
    sidsAt,
    listQueued,
    listOutcomes,
    untilDelivered,
    endPause,
  }) => {
    for (const name of ['one', 'two'] as const)
      receiver.answers.set(pathOf(name), (_, response) => response.writeHead(500).end())
    const person = await signIn(['one', 'two'])
    await endSession(platform, person.sid, 'logout')
    await expect.poll(async () => (await listQueued()).map(({ attempts }) => attempts)).toEqual([1, 1])
    await deleteClient(platform, clients.one.id)
    await updateClient(platform, clients.two.id, { backchannelLogoutUrl: null })
    await endPause()
    await untilDelivered()
    expect([sidsAt('one'), sidsAt('two')]).toEqual([[person.sid], [person.sid]])
    expect((await listOutcomes()).map(({ type }) => type)).not.toContain('logout.failed')
  })
})
