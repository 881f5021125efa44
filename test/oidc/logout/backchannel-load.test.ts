import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { startLogoutDeliveries } from '../../../src/oidc/logout/logout-deliveries.ts'
import { revokeUserSessions } from '../../../src/sessions/revoke-sessions.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { newTenant } from '../../support/actors.ts'
import { test } from '../../support/backchannel-logout.ts'
import { dbFor } from '../../support/database.ts'
import { answerIn, authorizePath, exchange, makeClient, makeUser, signInAt } from '../../support/protocol.ts'

describe('many deliveries', () => {
  test('of a slow client do not delay another client', async ({
    signIn,
    receiver,
    platform,
    pathOf,
    sidsAt,
    received,
    makeSessions,
    untilDelivered,
  }) => {
    const hanging: { end: () => void }[] = []
    receiver.answers.set(pathOf('one'), (_, response) => hanging.push(response.writeHead(200)))
    const slow = await makeSessions('one', 60)
    await revokeUserSessions(platform, slow.userId)
    await received('one', 4)
    const person = await signIn(['two'])
    await endSession(platform, person.sid, 'logout')
    await received('two')
    // Fewer than a process sends at once.
    expect(receiver.heardAt(pathOf('one')).length).toBeLessThan(16)
    receiver.answers.delete(pathOf('one'))
    for (const response of hanging) response.end()
    await untilDelivered()
    expect(sidsAt('one').sort()).toEqual(slow.ids.sort())
  })

  test('of slow clients of a tenant do not delay another tenant', async ({
    app,
    tenant,
    newBrowser,
    receiver,
    platform,
    pathOf,
    received,
    makeSessions,
  }) => {
    const hanging: { end: () => void }[] = []
    receiver.answers.set(pathOf('one'), (_, response) => hanging.push(response.writeHead(200)))
    const slow = await makeSessions('one', 8)
    const backchannelLogoutUrl = receiver.urlOf(pathOf('one'))
    for (let more = 0; more < 9; more++) {
      const { id: clientId } = await makeClient(tenant, { backchannelLogoutUrl })
      const data = slow.ids.map((sessionId) => ({ tenantId: tenant, sessionId, clientId }))
      await dbFor(tenant).sessionClient.createMany({ data })
    }
    await revokeUserSessions(platform, slow.userId)
    await received('one', 16)
    const slowPath = pathOf('one')
    const otherTenant = await newTenant()
    const url = receiver.urlOf(`/${otherTenant}/two`)
    const client = await makeClient(otherTenant, { backchannelLogoutUrl: url })
    const email = `ada@${otherTenant}.example`
    await makeUser(otherTenant, email)
    const { location } = await signInAt(newBrowser(), authorizePath(otherTenant, client), email)
    const { body } = await exchange(app, otherTenant, client, answerIn(location).code as string)
    await endSession(createPlatformCtx(otherTenant), String(decodeJwt(body.id_token as string).sid), 'logout')
    await receiver.waitFor(`/${otherTenant}/two`)
    expect(receiver.heardAt(slowPath).length).toBeLessThan(32)
    receiver.answers.delete(slowPath)
    for (const response of hanging) response.end()
    await receiver.waitFor(slowPath, 80)
  })

  test('by several processes reach each client once and are recorded once', async ({
    platform,
    sidsAt,
    makeSessions,
    listOutcomes,
    untilDelivered,
  }) => {
    const others = [startLogoutDeliveries(), startLogoutDeliveries()]
    const { userId, ids } = await makeSessions('one', 100)
    await revokeUserSessions(platform, userId)
    await untilDelivered()
    for (const stop of others) await stop()
    expect(sidsAt('one').sort()).toEqual(ids.sort())
    expect(await listOutcomes()).toHaveLength(100)
  })

  test('under way are finished before a process stops, and none are started', async ({
    receiver,
    clients,
    platform,
    deliveries,
    pathOf,
    received,
    makeSessions,
    listQueued,
    listOutcomes,
  }) => {
    const hanging: { end: () => void }[] = []
    receiver.answers.set(pathOf('one'), (_, response) => hanging.push(response.writeHead(200)))
    const { userId } = await makeSessions('one', 1)
    const later = await makeSessions('two', 1)
    await revokeUserSessions(platform, userId)
    await received('one')
    const stopped = deliveries.stop()
    await revokeUserSessions(platform, later.userId)
    for (const response of hanging) response.end()
    await stopped
    expect((await listQueued()).map(({ clientId, attempts }) => [clientId, attempts])).toEqual([
      [clients.two.id, 0],
    ])
    expect((await listOutcomes()).map(({ type }) => type)).toEqual(['logout.delivered'])
  })
})
