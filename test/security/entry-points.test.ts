import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { UserLocked } from '../../src/core/errors.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { lockUser, unlockUser, updateUser } from '../../src/users/users.ts'
import { inTransaction } from '../support/database.ts'
import { ENTRY_POINTS, listOpenEntryPoints, signInUser } from '../support/entry-points.ts'
import { test as base } from '../support/fixtures.ts'
import { answerIn, authorizePath, csrfIn } from '../support/protocol.ts'

let users = 0
const test = base
  .extend('mutate', { scope: 'file' }, ({ gql }) => async (field: string, input: string) => {
    const { body } = await gql(`mutation { result: ${field}(input: ${input}) { __typename } }`)
    return body
  })
  /** Makes a user with a verified email address and phone number. */
  .extend('newUser', { scope: 'file' }, ({ newPerson }) => async () => {
    users += 1
    const phoneNumber = `+4179123${String(users).padStart(4, '0')}`
    return { ...(await newPerson({ phoneNumber, phoneNumberVerified: true })), phoneNumber }
  })
  /** Runs one statement for a new user; returns the entry points that it closes. */
  .extend('listClosedAfter', { scope: 'file' }, ({ app }) => async (statement: string) => {
    const user = await signInUser(app)
    await inTransaction((sql) =>
      sql(`${statement} WHERE "tenantId" = $1 AND "userId" = $2`, [user.tenant, user.user.id]),
    )
    const open = await listOpenEntryPoints(app, user)
    return Object.keys(ENTRY_POINTS).filter((name) => !open.some((one) => one === name))
  })

describe('a locked user', () => {
  test('gets no passcode by email or SMS, over REST or GraphQL', async ({
    rest,
    mutate,
    inbox,
    newUser,
    ctx,
  }) => {
    const { id, email, phoneNumber } = await newUser()
    await lockUser(ctx, id)
    const rejected = { status: 403, body: { code: 'USER_LOCKED' } }
    for (const createUser of [false, true]) {
      expect(await rest('POST', '/passcodes/email', { to: email, createUser })).toMatchObject(rejected)
      expect(await rest('POST', '/passcodes/sms', { to: phoneNumber, createUser })).toMatchObject(rejected)
    }
    for (const [field, to] of [
      ['sendEmailPasscode', email],
      ['sendSmsPasscode', phoneNumber],
    ] as const)
      expect(await mutate(field, `{ to: "${to}" }`)).toEqual({
        data: { result: { __typename: 'UserLockedError' } },
      })
    expect([...(await inbox.list(email)), ...(await inbox.list(phoneNumber))]).toEqual([])
  })

  test('cannot authenticate by a passcode from before the lock, also after the lock is removed', async ({
    rest,
    mutate,
    inbox,
    newUser,
    ctx,
  }) => {
    const { id, email, phoneNumber } = await newUser()
    await rest('POST', '/passcodes/email', { to: email })
    await rest('POST', '/passcodes/sms', { to: phoneNumber })
    const [code, smsCode] = [await inbox.codeFor(email), await inbox.codeFor(phoneNumber)]
    await lockUser(ctx, id)
    const expectRejected = async () => {
      for (const [to, right] of [
        [email, code],
        [phoneNumber, smsCode],
      ]) {
        const body = { to, code: right, sessionExpirationMinutes: 10 }
        expect((await rest('POST', '/passcodes/authenticate', body)).status).toBe(401)
        expect(await mutate('authenticatePasscode', `{ to: "${to}", code: "${right}" }`)).toEqual({
          data: { result: { __typename: 'AuthenticationError' } },
        })
      }
    }
    await expectRejected()
    await unlockUser(ctx, id)
    await expectRejected()
  })

  test('cannot sign in on the hosted pages, by a code from before the lock or by another one', async ({
    oidc,
    inbox,
    newUser,
    newBrowser,
    ctx,
  }) => {
    const { id, email } = await newUser()
    const browser = newBrowser()
    const start = await browser.open(oidc.authorizePath())
    const csrf = csrfIn(await start.response.text())
    await browser.post(start.path, { csrf, step: 'email', address: email })
    const code = await inbox.codeFor(email)
    await lockUser(ctx, id)
    const posted = await browser.post(`${start.path}/code`, { csrf, step: 'code', code })
    const rejected = await browser.follow(posted)
    expect(rejected.location).toBeNull()
    expect(await rejected.response.text()).toContain('That code is wrong')
    expect(browser.sessionToken).toBeUndefined()
    const other = await newUser()
    await updateUser(ctx, other.id, { locked: true })
    const late = newBrowser()
    const page = await late.open(oidc.authorizePath())
    const form = { csrf: csrfIn(await page.response.text()), step: 'email', address: other.email }
    expect((await late.post(page.path, form)).status).toBe(303)
    expect(await inbox.list(other.email)).toEqual([])
  })

  test.for(['browser', 'api', 'oidc'] as const)(
    'cannot start a session of kind %s',
    async (kind, { newUser, ctx }) => {
      const { id } = await newUser()
      await lockUser(ctx, id)
      await expect(
        ctx.db.transaction((sql) =>
          startSession(sql, ctx, {
            userId: id,
            kind,
            expiresAt: new Date(Date.now() + 60_000),
            refreshable: true,
            proof: { method: 'passcode', amr: ['otp'] },
          }),
        ),
      ).rejects.toThrow(UserLocked)
    },
  )

  test('cannot use a token, code, cookie or session from before the lock, also after the lock is removed', async ({
    app,
  }) => {
    const user = await signInUser(app)
    const silent = await user.browser.fetch(authorizePath(user.tenant, user.client, { prompt: 'none' }))
    expect(answerIn(silent.headers.get('location'))).toHaveProperty('code')
    const platform = createPlatformCtx(user.tenant)
    await lockUser(platform, user.user.id)
    expect(await listOpenEntryPoints(app, user)).toEqual([])
    await unlockUser(platform, user.user.id)
    expect(await listOpenEntryPoints(app, user)).toEqual([])
  })

  test('cannot authenticate at any entry point when the lock has ended nothing', async ({ app }) => {
    const user = await signInUser(app)
    // The state after a race: a session, a grant and a code are created at the moment of the lock.
    const setLocked = (isLocked: boolean) =>
      inTransaction((sql) =>
        sql(`UPDATE "User" SET "locked" = $3 WHERE "tenantId" = $1 AND "id" = $2`, [
          user.tenant,
          user.user.id,
          isLocked,
        ]),
      )
    await setLocked(true)
    expect(await listOpenEntryPoints(app, user)).toEqual([])
    // Control: only the flag had closed them.
    await setLocked(false)
    expect(await listOpenEntryPoints(app, user)).toEqual(Object.keys(ENTRY_POINTS))
  })
})

const ONLINE = ['userinfo', 'REST', 'GraphQL', 'viewer', 'introspection', 'introspection by its client']
const OFFLINE = [
  'offline introspection',
  'introspection of the refresh token',
  'refresh',
  'refresh with management scopes',
  'offline userinfo',
  'offline REST',
]

describe('an entry point', () => {
  test('rejects a token without offline_access when its session alone has ended', async ({
    listClosedAfter,
  }) => {
    const closed = await listClosedAfter(`UPDATE "Session" SET "endedAt" = now()`)
    expect(closed).toEqual([...ONLINE, 'session token', 'prompt=none', 'code'])
    const expired = `UPDATE "Session" SET "expiresAt" = now() - interval '1 s'`
    expect(await listClosedAfter(expired)).toEqual(closed)
  })

  test('rejects every token when its grant alone is revoked or has expired', async ({ listClosedAfter }) => {
    const all = [...ONLINE, ...OFFLINE]
    expect(await listClosedAfter(`UPDATE "Grant" SET "revokedAt" = now()`)).toEqual(all)
    const expired = `UPDATE "Grant" SET "expiresAt" = now() - interval '1 s'`
    expect(await listClosedAfter(expired)).toEqual(all)
  })
})
