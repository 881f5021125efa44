import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ctx, platformCtx } from '../../src/ctx.ts'
import { inTransaction } from '../../src/db.ts'
import { listInbox } from '../../src/delivery/inbox.ts'
import { UserLocked } from '../../src/errors.ts'
import { settleDeliveries } from '../../src/passcodes/send-passcode.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { lockUser, unlockUser, updateUser } from '../../src/users/users.ts'
import { answerIn, authorizePath, Browser, codeFor, csrfIn, makeClient, makeUser } from '../oidc/provider.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { DOORS, type Person, signInPerson } from '../support/revocations.ts'

let app: TestApp
let tenant: string
let token: string
let ctx: Ctx

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  ctx = await ctxFor(tenant)
})
afterAll(() => app.close())

const rest = (path: string, body: object) => app.rest(tenant, token, 'POST', path, body)
const mutate = (field: string, input: string) =>
  app.gql(tenant, token, `mutation { result: ${field}(input: ${input}) { __typename } }`)

let people = 0
/** A person with two addresses; nothing of theirs was used yet. */
async function person() {
  people += 1
  const email = `p${people}@${tenant}.example`
  const phoneNumber = `+4179123${String(people).padStart(4, '0')}`
  const user = await makeUser(tenant, email, { phoneNumber, phoneNumberVerified: true })
  return { id: user.id, email, phoneNumber }
}

describe('security 29: a locked person gets in by no door', () => {
  test('no passcode is sent, by mail or text, REST or GraphQL', async () => {
    const { id, email, phoneNumber } = await person()
    await lockUser(ctx, id)
    for (const createUser of [false, true]) {
      expect(await rest('/passcodes/email', { to: email, createUser })).toMatchObject({
        status: 403,
        body: { code: 'USER_LOCKED' },
      })
      expect(await rest('/passcodes/sms', { to: phoneNumber, createUser })).toMatchObject({
        status: 403,
        body: { code: 'USER_LOCKED' },
      })
    }
    for (const [field, to] of [
      ['sendEmailPasscode', email],
      ['sendSmsPasscode', phoneNumber],
    ] as const)
      expect((await mutate(field, `{ to: "${to}" }`)).body).toEqual({
        data: { result: { __typename: 'UserLockedError' } },
      })
    expect([...listInbox(email), ...listInbox(phoneNumber)]).toEqual([])
  })

  test('a passcode from before the lock is no good, also after it was lifted', async () => {
    const { id, email, phoneNumber } = await person()
    await rest('/passcodes/email', { to: email })
    await rest('/passcodes/sms', { to: phoneNumber })
    const [code, smsCode] = [await codeFor(email), await codeFor(phoneNumber)]
    await lockUser(ctx, id)
    const attempt = async () => {
      for (const [to, right] of [
        [email, code],
        [phoneNumber, smsCode],
      ]) {
        const body = { to, code: right, sessionExpirationMinutes: 10 }
        expect((await rest('/passcodes/authenticate', body)).status).toBe(401)
        expect((await mutate('authenticatePasscode', `{ to: "${to}", code: "${right}" }`)).body).toEqual({
          data: { result: { __typename: 'AuthenticationError' } },
        })
      }
    }
    await attempt()
    await unlockUser(ctx, id)
    await attempt()
  })

  test('the hosted pages send nothing, take no code from before, and say nothing of it', async () => {
    const client = await makeClient(tenant)
    const { id, email } = await person()
    const by = new Browser(app)
    const start = await by.open(authorizePath(tenant, client))
    const csrf = csrfIn(await start.response.text())
    await by.post(start.path, { csrf, step: 'email', address: email })
    const code = await codeFor(email)
    await lockUser(ctx, id)
    const refused = await by.follow(await by.post(`${start.path}/code`, { csrf, step: 'code', code }))
    expect(refused.location).toBeNull()
    expect(await refused.response.text()).toContain('wrong or has expired')
    expect(by.cookies.has('vst_sid')).toBe(false)
    const other = await person()
    await updateUser(ctx, other.id, { locked: true })
    const late = new Browser(app)
    const begin = await late.open(authorizePath(tenant, client))
    const form = { csrf: csrfIn(await begin.response.text()), step: 'email', address: other.email }
    expect((await late.post(begin.path, form)).status).toBe(303)
    await settleDeliveries()
    expect(listInbox(other.email)).toEqual([])
  })

  test.each(['browser', 'api', 'oidc'] as const)('no %s session starts', async (kind) => {
    const { id } = await person()
    await lockUser(ctx, id)
    await expect(
      inTransaction((sql) =>
        startSession(sql, ctx, {
          userId: id,
          kind,
          expiresAt: new Date(Date.now() + 60_000),
          refreshable: true,
          amr: ['otp'],
        }),
      ),
    ).rejects.toThrow(UserLocked)
  })

  test('what was had before is no good: tokens, codes, cookies, sessions, refreshes; nor after the lock is lifted', async () => {
    const who: Person = await signInPerson(app)
    const asked = await who.browser.fetch(authorizePath(who.tenant, who.client, { prompt: 'none' }))
    expect(answerIn(asked.headers.get('location'))).toHaveProperty('code')
    const platform = platformCtx(who.tenant)
    const openDoors = async () => {
      const open: string[] = []
      for (const [door, isOpen] of Object.entries(DOORS)) if (await isOpen(app, who)) open.push(door)
      return open
    }
    await lockUser(platform, who.user.id)
    expect(await openDoors()).toEqual([])
    await unlockUser(platform, who.user.id)
    expect(await openDoors()).toEqual([])
  })

  test('each door looks by itself: with nothing ended by the lock, none lets a locked person in', async () => {
    const who: Person = await signInPerson(app)
    // As if a session, a grant and a code had been made in the moment of the lock: only the flag is set.
    await inTransaction((sql) =>
      sql(`UPDATE "User" SET "locked" = true WHERE "tenantId" = $1 AND "id" = $2`, [who.tenant, who.user.id]),
    )
    const open: string[] = []
    for (const [door, isOpen] of Object.entries(DOORS)) if (await isOpen(app, who)) open.push(door)
    expect(open).toEqual([])
    // The control: it was the flag alone.
    await inTransaction((sql) =>
      sql(`UPDATE "User" SET "locked" = false WHERE "tenantId" = $1 AND "id" = $2`, [
        who.tenant,
        who.user.id,
      ]),
    )
    for (const [door, isOpen] of Object.entries(DOORS))
      expect([door, await isOpen(app, who)]).toEqual([door, true])
  })
})

describe('security 27: each door looks at all that a token stands on, though one change alone would do', () => {
  const openAfter = async (change: string) => {
    const who = await signInPerson(app)
    const all = Object.keys(DOORS)
    const openDoors = async () => {
      const open: string[] = []
      for (const [door, isOpen] of Object.entries(DOORS)) if (await isOpen(app, who)) open.push(door)
      return open
    }
    await inTransaction((sql) =>
      sql(`${change} WHERE "tenantId" = $1 AND "userId" = $2`, [who.tenant, who.user.id]),
    )
    const open = await openDoors()
    return all.filter((door) => !open.includes(door))
  }
  const ONLINE = ['userinfo', 'REST', 'GraphQL', 'viewer', 'introspection', 'introspection by its client']
  const OFFLINE = [
    'offline introspection',
    'introspection of the refresh token',
    'refresh',
    'refresh with management scopes',
    'offline userinfo',
    'offline REST',
  ]

  test('the session, of tokens that are not offline', async () => {
    const closed = await openAfter(`UPDATE "Session" SET "endedAt" = now()`)
    expect(closed).toEqual([...ONLINE, 'session token', 'prompt=none', 'code'])
    expect(await openAfter(`UPDATE "Session" SET "expiresAt" = now() - interval '1 s'`)).toEqual(closed)
  })

  test('the grant, of all tokens', async () => {
    expect(await openAfter(`UPDATE "Grant" SET "revokedAt" = now()`)).toEqual([...ONLINE, ...OFFLINE])
    expect(await openAfter(`UPDATE "Grant" SET "expiresAt" = now() - interval '1 s'`)).toEqual([
      ...ONLINE,
      ...OFFLINE,
    ])
  })
})
