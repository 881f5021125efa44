import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { startLogoutDeliveries } from '../../src/oidc/logout-deliveries.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { newTenant } from '../support/actors.ts'
import { type LogoutReceiver, startLogoutReceiver, validateLogoutToken } from './logout-receiver.ts'
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

let provider: Provider
let receiver: LogoutReceiver
let stopDeliveries: () => Promise<void>
let tenant: string
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
  const told = (name: string) =>
    makeClient(tenant, { backchannelLogoutUrl: receiver.urlOf(`/${tenant}/${name}`) })
  clients = { one: await told('one'), two: await told('two'), silent: await makeClient(tenant) }
  stopDeliveries = startLogoutDeliveries()
})
afterEach(() => stopDeliveries())

const pathOf = (name: string) => `/${tenant}/${name}`
const told = (name: string) => receiver.toldAt(pathOf(name))
const heard = (name: string, times = 1) => receiver.waitFor(pathOf(name), times)

type Person = {
  user: { id: string }
  email: string
  browser: Browser
  sid: string
  idToken: string
  accessToken: string
}

/** Signs a person in, and lets these clients get ID tokens of the session. */
async function signedIn(names: (keyof typeof clients)[] = ['one'], more: object = {}): Promise<Person> {
  const email = `person${count++}@example.com`
  const user = await makeUser(tenant, email, more)
  const browser = new Browser(provider)
  const [first = 'one', ...others] = names
  const { location } = await signInAt(browser, authorizePath(tenant, clients[first]), email)
  const { body } = await exchange(provider, tenant, clients[first], answerIn(location).code as string)
  for (const name of others) await tokensFor(browser, name)
  if (!body.id_token) throw new Error(JSON.stringify(body))
  const idToken = body.id_token
  return {
    user,
    email,
    browser,
    sid: String(decodeJwt(idToken).sid),
    idToken,
    accessToken: body.access_token as string,
  }
}

async function codeFor(browser: Browser, name: keyof typeof clients): Promise<string> {
  const answer = await browser.fetch(authorizePath(tenant, clients[name], { prompt: 'none' }))
  return answerIn(answer.headers.get('location')).code as string
}
const tokensFor = async (browser: Browser, name: keyof typeof clients) =>
  exchange(provider, tenant, clients[name], await codeFor(browser, name))

const queued = () => dbFor(tenant).logoutDelivery.findMany({ where: { tenantId: tenant } })
/** Waits until nothing is queued any more. */
async function settled(): Promise<void> {
  await expect.poll(queued, { timeout: 15_000, interval: 20 }).toEqual([])
}

describe('the end of a session (OpenID Connect Back-Channel Logout 1.0)', () => {
  test('section 2.5: reaches every client of that session by a POST of a logout token, and nobody else', async () => {
    const person = await signedIn(['one', 'silent', 'two'])
    const other = await signedIn(['two'])
    await endSession(platformCtx(tenant), person.sid, 'logout')
    for (const name of ['one', 'two'] as const) {
      const [request] = await heard(name)
      expect(request?.form).toEqual({ logout_token: expect.any(String) })
    }
    await settled()
    expect([told('one'), told('two')]).toEqual([[person.sid], [person.sid]])
    expect(told('two')).not.toContain(other.sid)
  })

  test('section 2.4: the logout token says whose session ended, for two minutes, without a nonce', async () => {
    const person = await signedIn(['one'])
    await endSession(platformCtx(tenant), person.sid, 'logout')
    const [request] = await heard('one')
    const { alg, claims } = await validateLogoutToken(
      provider.origin,
      tenant,
      clients.one.id,
      request as NonNullable<typeof request>,
    )
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
  })
})
