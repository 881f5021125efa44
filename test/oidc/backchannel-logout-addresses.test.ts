import { afterAll, beforeAll, expect, test, vi } from 'vitest'

vi.hoisted(() => {
  process.env.FETCH_PRIVATE = '0'
})

import { updateClient } from '../../src/clients/client-changes.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor, sql } from '../../src/db.ts'
import { sendLogoutToken } from '../../src/oidc/logout/backchannel-logout.ts'
import { startLogoutDeliveries } from '../../src/oidc/logout/logout-deliveries.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import { wakeAfterEnding } from '../../src/sessions/after-ending.ts'
import { revokeUserSessions } from '../../src/sessions/sessions.ts'
import { newTenant } from '../support/actors.ts'
import { type LogoutReceiver, startLogoutReceiver } from './logout-receiver.ts'
import { makeClient, makeUser } from './provider.ts'

let tenant: string
let receiver: LogoutReceiver
beforeAll(async () => {
  await openRuntime()
  tenant = await newTenant()
  receiver = await startLogoutReceiver()
})
afterAll(async () => {
  await receiver.close()
  await closeRuntime()
})

const deliveryTo = (url: string) => ({
  tenantId: tenant,
  id: 'd',
  clientId: 'client_x',
  userId: 'user_x',
  sessionId: 'session_x',
  attempts: 1,
  expiresAt: new Date(),
  url,
  alg: null,
})

test.each([
  '127.0.0.1',
  'localhost',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '2130706433',
  '0',
  '10.0.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '198.18.0.1',
  '100.64.0.1',
  '[fd00::1]',
])('no logout token goes to %s (security row 52)', async (host) => {
  const url = `http://${host}:${new URL(receiver.urlOf('/')).port}/`
  const answer = await sendLogoutToken(deliveryTo(url), AbortSignal.timeout(10_000))
  expect(answer).toEqual({ status: null, fault: 'refused' })
  expect(receiver.heardAt('/')).toEqual([])
  // What is never delivered to is not taken, either.
  const { id } = await makeClient(tenant)
  const fields = [{ field: 'backchannelLogoutUrl', description: 'must be on a public address' }]
  for (const backchannelLogoutUrl of [url, url.replace('http:', 'https:')]) {
    await expect(makeClient(tenant, { backchannelLogoutUrl })).rejects.toMatchObject({ fields })
    await expect(updateClient(platformCtx(tenant), id, { backchannelLogoutUrl })).rejects.toMatchObject({
      fields,
    })
  }
})

test('a client of a time when it could be is never told on a private address, and the log says why', async () => {
  const client = await makeClient(tenant)
  await dbFor(tenant).client.updateMany({
    where: { tenantId: tenant, id: client.id },
    data: { backchannelLogoutUrl: receiver.urlOf('/') },
  })
  const { id: userId } = await makeUser(tenant, 'ada@example.com')
  const own = { tenantId: tenant, userId, kind: 'browser', expiresAt: new Date(Date.now() + 60_000) }
  await dbFor(tenant).session.create({ data: { ...own, id: 'session_x', tokenHash: Buffer.from('x') } })
  await dbFor(tenant).sessionClient.create({
    data: { tenantId: tenant, sessionId: 'session_x', clientId: client.id },
  })
  await revokeUserSessions(platformCtx(tenant), userId)
  await sql('UPDATE "LogoutDelivery" SET "expiresAt" = now() WHERE "tenantId" = $1', [tenant])
  const stop = startLogoutDeliveries()
  wakeAfterEnding(tenant)
  const outcome = () => dbFor(tenant).event.findFirst({ where: { tenantId: tenant, type: 'logout.failed' } })
  await expect.poll(outcome, { timeout: 15_000 }).toMatchObject({
    subjectIds: [client.id],
    detail: { attempts: 1, status: null, fault: 'refused' },
  })
  await stop()
  expect(receiver.heardAt('/')).toEqual([])
})
