import type { RequestListener } from 'node:http'
import { decodeJwt } from 'jose'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { cleanUp } from '../../src/cleanup.ts'
import { deleteClient, updateClient } from '../../src/clients/client-changes.ts'
import { revokeUserConsent } from '../../src/consents/consents.ts'
import { asPerson, type Ctx, platformCtx } from '../../src/ctx.ts'
import { dbFor, sql } from '../../src/db.ts'
import { issueLogoutToken } from '../../src/oidc/logout/backchannel-logout.ts'
import { pauseAfter, startLogoutDeliveries } from '../../src/oidc/logout/logout-deliveries.ts'
import { revokeViewerSessions } from '../../src/self/own-sessions.ts'
import { wakeAfterEnding } from '../../src/sessions/after-ending.ts'
import { endSession, revokeSession, revokeUserSessions } from '../../src/sessions/sessions.ts'
import { deleteUser, lockUser, updateUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { countStatements, countWarmStatements } from '../support/statements.ts'
import {
  type Heard,
  type LogoutReceiver,
  startLogoutReceiver,
  validateLogoutToken,
} from './logout-receiver.ts'
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
  userinfoOf,
} from './provider.ts'

let provider: Provider
let receiver: LogoutReceiver
let stopDeliveries: () => Promise<void>
let tenant: string
let ctx: Ctx
let clients: Record<'one' | 'two' | 'silent', Awaited<ReturnType<typeof makeClient>>>
let count = 0

beforeAll(async () => {
  provider = await startProvider()
  receiver = await startLogoutReceiver()
})
afterAll(async () => {
  await receiver.close()
  await provider.close()
})
beforeEach(async () => {
  tenant = await newTenant()
  ctx = platformCtx(tenant)
  const listening = (name: string) =>
    makeClient(tenant, { backchannelLogoutUrl: receiver.urlOf(`/${tenant}/${name}`) })
  clients = { one: await listening('one'), two: await listening('two'), silent: await makeClient(tenant) }
  stopDeliveries = startLogoutDeliveries()
})
afterEach(() => stopDeliveries())

const pathOf = (name: string) => `/${tenant}/${name}`
const toldAt = (name: string) => receiver.toldAt(pathOf(name))
const heard = (name: string, times = 1) => receiver.waitFor(pathOf(name), times)

/** Signs a person in, and lets these clients get ID tokens of the session. */
async function signedIn(names: (keyof typeof clients)[] = ['one']) {
  const email = `person${count++}@example.com`
  const user = await makeUser(tenant, email)
  const browser = new Browser(provider)
  const [first = 'one', ...others] = names
  const { location } = await signInAt(browser, authorizePath(tenant, clients[first]), email)
  const { body } = await exchange(provider, tenant, clients[first], answerIn(location).code as string)
  for (const name of others) await tokensFor(browser, name)
  const { id_token: idToken = '', access_token: accessToken = '' } = body
  return { user, email, browser, sid: String(decodeJwt(idToken).sid), idToken, accessToken }
}
type Person = Awaited<ReturnType<typeof signedIn>>

async function codeFor(browser: Browser, name: keyof typeof clients): Promise<string> {
  const answer = await browser.fetch(authorizePath(tenant, clients[name], { prompt: 'none' }))
  return answerIn(answer.headers.get('location')).code as string
}
const tokensFor = async (browser: Browser, name: keyof typeof clients) =>
  exchange(provider, tenant, clients[name], await codeFor(browser, name))

/** Sessions of one person, all of which a client has tokens of. */
async function manySessions(name: keyof typeof clients, number: number) {
  const { id: userId } = await makeUser(tenant, `person${count++}@example.com`)
  const ids = Array.from({ length: number }, (_, index) => `session_${userId}_${index}`)
  const own = { tenantId: tenant, userId, kind: 'browser', expiresAt: new Date(Date.now() + 3_600_000) }
  await dbFor(tenant).session.createMany({
    data: ids.map((id) => ({ ...own, id, tokenHash: Buffer.from(id) })),
  })
  await dbFor(tenant).sessionClient.createMany({
    data: ids.map((sessionId) => ({ tenantId: tenant, sessionId, clientId: clients[name].id })),
  })
  return { userId, ids }
}

const queued = () => dbFor(tenant).logoutDelivery.findMany({ where: { tenantId: tenant } })
const outcomes = async () =>
  (
    await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, type: { startsWith: 'logout.' } },
      orderBy: { seq: 'asc' },
    })
  ).map(({ type, subjectIds, userId, sessionId, detail }) => ({
    type,
    subjectIds,
    userId,
    sessionId,
    detail,
  }))

/** Waits until nothing is queued any more. */
const settled = () => expect.poll(queued, { timeout: 15_000, interval: 20 }).toEqual([])
/** Waits until an attempt was noted as failed: the pause after the first two is shorter than what is left of the lease. */
const failed = (attempts = 1) =>
  expect
    .poll(
      async () => (await queued()).map((row) => [row.attempts, row.nextAt < new Date(Date.now() + 9000)]),
      {
        timeout: 15_000,
        interval: 20,
      },
    )
    .toEqual([[attempts, true]])

/** Lets the pause before the next attempt pass. */
async function passPause(): Promise<void> {
  await sql('UPDATE "LogoutDelivery" SET "nextAt" = now() WHERE "tenantId" = $1', [tenant])
  wakeAfterEnding(tenant)
}

const validate = (name: keyof typeof clients, request: Heard | undefined) =>
  validateLogoutToken(provider.origin, tenant, clients[name].id, request as Heard)

describe('the end of a session (OpenID Connect Back-Channel Logout 1.0)', () => {
  test('section 2.5: reaches every client of that session by a POST of a logout token, and nobody else', async () => {
    const person = await signedIn(['one', 'silent', 'two'])
    const other = await signedIn(['two'])
    await endSession(ctx, person.sid, 'logout')
    for (const name of ['one', 'two'] as const) {
      const [request] = await heard(name)
      expect(request?.form).toEqual({ logout_token: expect.any(String) })
    }
    await settled()
    expect([toldAt('one'), toldAt('two')]).toEqual([[person.sid], [person.sid]])
    expect(toldAt('two')).not.toContain(other.sid)
  })

  test('section 2.4: the logout token says whose session ended, for two minutes, without a nonce', async () => {
    const person = await signedIn(['one'])
    await endSession(ctx, person.sid, 'logout')
    const { alg, claims } = await validate('one', (await heard('one'))[0])
    expect(alg).toBe('ES256')
    expect(claims).toEqual({
      iss: `http://localhost:3000/${tenant}`,
      sub: person.user.id,
      aud: clients.one.id,
      iat: expect.any(Number),
      exp: (claims.iat as number) + 120,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      sid: person.sid,
    })
    await settled()
    expect(await outcomes()).toEqual([
      {
        type: 'logout.delivered',
        subjectIds: [clients.one.id],
        userId: person.user.id,
        sessionId: person.sid,
        detail: { attempts: 1, status: 200, fault: null },
      },
    ])
  })

  test('several sign-ins of a client in one session are told of once', async () => {
    const person = await signedIn(['one', 'one', 'one'])
    await endSession(ctx, person.sid, 'logout')
    await settled()
    expect(toldAt('one')).toEqual([person.sid])
  })

  test('costs no statement more, nor does the exchange of a code', async () => {
    const statements = async (name: keyof typeof clients) => {
      const { browser, sid } = await signedIn([name])
      const [first, second] = [await codeFor(browser, name), await codeFor(browser, name)]
      return [
        await countWarmStatements(
          () => exchange(provider, tenant, clients[name], first),
          () => exchange(provider, tenant, clients[name], second),
        ),
        await countStatements(() => endSession(ctx, sid, 'logout')),
      ]
    }
    await stopDeliveries()
    const silent = await statements('silent')
    expect([silent[0], await statements('one')]).toEqual([1, silent])
  })
})

const asOwner = ({ user }: Person): Ctx => {
  const own = asPerson(ctx, { userId: user.id, sessionId: 'session_another' })
  return { ...own, actor: { ...own.actor, mayChangeOwn: true } as Ctx['actor'] }
}
const expire = ({ sid }: Person) =>
  sql(
    'UPDATE "Session" SET "expiresAt" = now() - interval \'1 second\' WHERE "tenantId" = $1 AND "id" = $2',
    [tenant, sid],
  )

describe('the clients of a session are told when', () => {
  test.each<[string, (person: Person) => Promise<unknown>]>([
    [
      'the person signs out',
      ({ browser, idToken }) =>
        browser.fetch(`/${tenant}/oidc/logout?${new URLSearchParams({ id_token_hint: idToken })}`),
    ],
    [
      'somebody else signs in with the browser',
      async ({ browser }) => {
        const email = `person${count++}@example.com`
        await makeUser(tenant, email)
        await signInAt(browser, authorizePath(tenant, clients.silent, { prompt: 'login' }), email)
      },
    ],
    ['an administrator revokes it', ({ sid }) => revokeSession(ctx, sid)],
    ['an administrator revokes all of the user', ({ user }) => revokeUserSessions(ctx, user.id)],
    ['the person revokes it elsewhere', (person) => revokeViewerSessions(asOwner(person), {})],
    ['the user is locked', ({ user }) => lockUser(ctx, user.id)],
    ['the user is deleted', ({ user }) => deleteUser(ctx, user.id)],
    [
      'it has expired',
      async (person) => {
        await expire(person)
        await cleanUp()
      },
    ],
    [
      'it has expired, and the user is deleted before that was noticed',
      async (person) => {
        await expire(person)
        await deleteUser(ctx, person.user.id)
      },
    ],
    [
      'the address is proven for the first time by somebody',
      async ({ user, email }) => {
        await updateUser(ctx, user.id, { emailVerified: false })
        // Otherwise the next code would have to wait for half a minute.
        await sql('DELETE FROM "Passcode" WHERE "tenantId" = $1', [tenant])
        await signInAt(new Browser(provider), authorizePath(tenant, clients.silent), email)
      },
    ],
  ])('%s', async (_name, end) => {
    const person = await signedIn(['one', 'two'])
    const other = await signedIn(['one'])
    await end(person)
    await settled()
    expect([toldAt('one'), toldAt('two')]).toEqual([[person.sid], [person.sid]])
    for (const name of ['one', 'two'] as const)
      expect((await validate(name, (await heard(name))[0])).claims).toMatchObject({
        sub: person.user.id,
        sid: person.sid,
      })
    expect((await userinfoOf(provider, tenant, other.accessToken)).status).toBe(200)
  })
})

describe('a client whose consent is taken back', () => {
  test('is told to sign the person out, it alone and once, though the session goes on', async () => {
    const person = await signedIn(['one', 'two'])
    const consent = { tenantId: tenant, userId: person.user.id, clientId: clients.one.id, scopes: ['openid'] }
    await dbFor(tenant).consent.create({ data: consent })
    await revokeUserConsent(ctx, person.user.id, clients.one.id)
    await settled()
    expect([toldAt('one'), toldAt('two')]).toEqual([[person.sid], []])
    expect((await tokensFor(person.browser, 'two')).status).toBe(200)
    await endSession(ctx, person.sid, 'logout')
    await settled()
    expect([toldAt('one'), toldAt('two')]).toEqual([[person.sid], [person.sid]])
  })

  test('is told again when it got tokens anew before the session ends', async () => {
    const person = await signedIn(['one'])
    const consent = { tenantId: tenant, userId: person.user.id, clientId: clients.one.id, scopes: ['openid'] }
    await dbFor(tenant).consent.create({ data: consent })
    await revokeUserConsent(ctx, person.user.id, clients.one.id)
    await tokensFor(person.browser, 'one')
    await endSession(ctx, person.sid, 'logout')
    await settled()
    expect(toldAt('one')).toEqual([person.sid, person.sid])
  })
})

describe('a client that does not take its logout token', () => {
  test('is tried again, with a token of its own for each attempt, until it does', async () => {
    const statuses = [500, 400, 204]
    receiver.answers.set(pathOf('one'), (_, response) => response.writeHead(statuses.shift() ?? 200).end())
    const person = await signedIn()
    await endSession(ctx, person.sid, 'logout')
    await failed(1)
    await passPause()
    await failed(2)
    await passPause()
    await settled()
    const tokens = receiver.heardAt(pathOf('one')).map(({ form }) => decodeJwt(form.logout_token as string))
    expect(new Set(tokens.map(({ jti }) => jti)).size).toBe(3)
    expect((await outcomes()).map(({ type, detail }) => ({ type, detail }))).toEqual([
      { type: 'logout.delayed', detail: { attempts: 1, status: 500, fault: null } },
      { type: 'logout.delivered', detail: { attempts: 3, status: 204, fault: null } },
    ])
  })

  test('is tried again by itself, after pauses that grow from seconds to an hour', async () => {
    const statuses = [503]
    receiver.answers.set(pathOf('one'), (_, response) => response.writeHead(statuses.shift() ?? 200).end())
    const person = await signedIn()
    await endSession(ctx, person.sid, 'logout')
    const [first, second] = await heard('one', 2)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1500)
    await settled()
    const pauses = Array.from({ length: 30 }, (_, index) => pauseAfter(index + 1))
    for (const [index, pause] of pauses.entries()) {
      const shortest = Math.min(2 * 3 ** index, 3600)
      expect(pause).toBeGreaterThanOrEqual(shortest)
      expect(pause).toBeLessThanOrEqual(shortest * 1.25)
    }
  })

  test.each<[string, RequestListener, string]>([
    ['hangs up', (request) => request.socket.destroy(), 'unreachable'],
    ['says nothing for ten seconds', () => {}, 'slow'],
  ])('because it %s is given up with that reason in the end', async (_name, answer, fault) => {
    // A second stands for twenty.
    const timeout = AbortSignal.timeout.bind(AbortSignal)
    const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 20))
    onTestFinished(() => limit.mockRestore())
    receiver.answers.set(pathOf('one'), answer)
    await stopDeliveries()
    const person = await signedIn()
    await endSession(ctx, person.sid, 'logout')
    await sql('UPDATE "LogoutDelivery" SET "expiresAt" = now() WHERE "tenantId" = $1', [tenant])
    stopDeliveries = startLogoutDeliveries()
    await settled()
    expect((await outcomes()).map(({ type, detail }) => ({ type, detail }))).toEqual([
      { type: 'logout.failed', detail: { attempts: 1, status: null, fault } },
    ])
    expect(limit.mock.calls).toEqual([[10_000]])
  })

  test('for a day is given up; the log says so once, and once at the first failure', async () => {
    receiver.answers.set(pathOf('one'), (_, response) => response.writeHead(500).end())
    const person = await signedIn()
    await endSession(ctx, person.sid, 'logout')
    await failed()
    const about = { subjectIds: [clients.one.id], userId: person.user.id, sessionId: person.sid }
    const delayed = { ...about, type: 'logout.delayed', detail: { attempts: 1, status: 500, fault: null } }
    expect(await outcomes()).toEqual([delayed])
    await passPause()
    await failed(2)
    expect(await outcomes()).toEqual([delayed])
    const [row] = await queued()
    expect((row?.expiresAt.getTime() ?? 0) - (row?.createdAt.getTime() ?? 0)).toBe(86_400_000)
    await sql('UPDATE "LogoutDelivery" SET "expiresAt" = now() WHERE "tenantId" = $1', [tenant])
    await passPause()
    await settled()
    expect(await outcomes()).toEqual([
      delayed,
      { ...about, type: 'logout.failed', detail: { attempts: 3, status: 500, fault: null } },
    ])
  })

  test('but redirects is not followed, wherever to (security row 52)', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.answers.set(pathOf('one'), (_, response) =>
        response.writeHead(status, { location: receiver.urlOf(pathOf('elsewhere')) }).end(),
      )
      const person = await signedIn()
      await endSession(ctx, person.sid, 'logout')
      await failed()
      await sql('DELETE FROM "LogoutDelivery" WHERE "tenantId" = $1', [tenant])
    }
    expect(receiver.heardAt(pathOf('elsewhere'))).toEqual([])
    expect((await outcomes()).map(({ type, detail }) => [type, detail])).toEqual(
      Array(5).fill(['logout.delayed', { attempts: 1, status: null, fault: 'refused' }]),
    )
  })

  test('to its end, but says 200 and goes on talking, was told', async () => {
    receiver.answers.set(pathOf('one'), (_, response) => {
      const chunk = Buffer.alloc(65_536)
      const talk = () => {
        if (!response.destroyed && response.write(chunk)) setImmediate(talk)
      }
      response.writeHead(200).on('drain', talk)
      talk()
    })
    const person = await signedIn()
    await endSession(ctx, person.sid, 'logout')
    await settled()
    expect(toldAt('one')).toEqual([person.sid])
  })

  test('because it is gone, or wants to hear no more, is forgotten', async () => {
    for (const name of ['one', 'two'] as const)
      receiver.answers.set(pathOf(name), (_, response) => response.writeHead(500).end())
    const person = await signedIn(['one', 'two'])
    await endSession(ctx, person.sid, 'logout')
    await expect.poll(async () => (await queued()).map(({ attempts }) => attempts)).toEqual([1, 1])
    await deleteClient(ctx, clients.one.id)
    await updateClient(ctx, clients.two.id, { backchannelLogoutUrl: null })
    await passPause()
    await settled()
    expect([toldAt('one'), toldAt('two')]).toEqual([[person.sid], [person.sid]])
    expect((await outcomes()).map(({ type }) => type)).not.toContain('logout.failed')
  })
})

describe('many at once', () => {
  test('a client that is slow delays no other', async () => {
    const hanging: { end: () => void }[] = []
    receiver.answers.set(pathOf('one'), (_, response) => hanging.push(response.writeHead(200)))
    const slow = await manySessions('one', 60)
    await revokeUserSessions(ctx, slow.userId)
    await heard('one', 4)
    const person = await signedIn(['two'])
    await endSession(ctx, person.sid, 'logout')
    await heard('two')
    // Far fewer than a process has under way: there is room for others.
    expect(receiver.heardAt(pathOf('one')).length).toBeLessThan(16)
    receiver.answers.delete(pathOf('one'))
    for (const response of hanging) response.end()
    await settled()
    expect(toldAt('one').sort()).toEqual(slow.ids.sort())
  })

  test('security 61: slow clients of a tenant, however many, delay no other tenant', async () => {
    const hanging: { end: () => void }[] = []
    receiver.answers.set(pathOf('one'), (_, response) => hanging.push(response.writeHead(200)))
    const slow = await manySessions('one', 8)
    const backchannelLogoutUrl = receiver.urlOf(pathOf('one'))
    for (let more = 0; more < 9; more++) {
      const { id: clientId } = await makeClient(tenant, { backchannelLogoutUrl })
      const data = slow.ids.map((sessionId) => ({ tenantId: tenant, sessionId, clientId }))
      await dbFor(tenant).sessionClient.createMany({ data })
    }
    await revokeUserSessions(ctx, slow.userId)
    await heard('one', 16)
    const slowPath = pathOf('one')
    tenant = await newTenant()
    ctx = platformCtx(tenant)
    clients.two = await makeClient(tenant, { backchannelLogoutUrl: receiver.urlOf(pathOf('two')) })
    const person = await signedIn(['two'])
    await endSession(ctx, person.sid, 'logout')
    await heard('two')
    expect(receiver.heardAt(slowPath).length).toBeLessThan(32)
    receiver.answers.delete(slowPath)
    for (const response of hanging) response.end()
    await receiver.waitFor(slowPath, 80)
  })

  test('several who deliver tell each client once, and the log once', async () => {
    const others = [startLogoutDeliveries(), startLogoutDeliveries()]
    const { userId, ids } = await manySessions('one', 100)
    await revokeUserSessions(ctx, userId)
    await settled()
    for (const stop of others) await stop()
    expect(toldAt('one').sort()).toEqual(ids.sort())
    expect(await outcomes()).toHaveLength(100)
  })

  test('what one has under way is finished before it stops, and nothing new is begun', async () => {
    const hanging: { end: () => void }[] = []
    receiver.answers.set(pathOf('one'), (_, response) => hanging.push(response.writeHead(200)))
    const { userId } = await manySessions('one', 1)
    const later = await manySessions('two', 1)
    await revokeUserSessions(ctx, userId)
    await heard('one')
    const stopped = stopDeliveries()
    await revokeUserSessions(ctx, later.userId)
    for (const response of hanging) response.end()
    await stopped
    expect((await queued()).map(({ clientId, attempts }) => [clientId, attempts])).toEqual([
      [clients.two.id, 0],
    ])
    expect((await outcomes()).map(({ type }) => type)).toEqual(['logout.delivered'])
  })
})

describe('a logout token', () => {
  test.each(['RS256', 'ES384', 'EdDSA'])('is signed as the ID tokens of its client: %s', async (alg) => {
    await updateClient(ctx, clients.one.id, { idTokenSigningAlg: alg })
    const { userId, ids } = await manySessions('one', 1)
    await revokeUserSessions(ctx, userId)
    const { alg: used, claims } = await validate('one', (await heard('one'))[0])
    expect([used, claims.sid]).toEqual([alg, ids[0]])
  })

  test('is neither an ID token nor an access token (section 2.4: typ; security row 34)', async () => {
    const person = await signedIn()
    const token = await issueLogoutToken({
      tenantId: tenant,
      id: 'x',
      clientId: clients.one.id,
      userId: person.user.id,
      sessionId: person.sid,
      attempts: 1,
      expiresAt: new Date(),
      alg: null,
    })
    const logout = await person.browser.fetch(
      `/${tenant}/oidc/logout?${new URLSearchParams({ id_token_hint: token })}`,
    )
    expect([logout.status, await logout.text()]).toEqual([
      400,
      expect.stringContaining('You are still signed in'),
    ])
    expect((await userinfoOf(provider, tenant, token)).status).toBe(401)
    const authorize = await person.browser.fetch(
      authorizePath(tenant, clients.one, { prompt: 'none', id_token_hint: token }),
    )
    expect(answerIn(authorize.headers.get('location')).code).toBeUndefined()
  })
})
