import { describe, expect } from 'vitest'
import { requestEmailChange } from '../../src/account/request-address-change.ts'
import { createBackgroundCounts } from '../../src/coordination/background-counts.ts'
import { takeGrant, takePendingRequest, takeSignIn } from '../../src/coordination/person-budgets.ts'
import { STORAGE_BUDGETS } from '../../src/coordination/storage-budgets.ts'
import { env } from '../../src/core/env.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser } from '../../src/users/users.ts'
import { authenticateAs, test } from '../support/account.ts'
import { dbFor } from '../support/database.ts'
import { answerIn, authorizePath } from '../support/protocol.ts'
import { enrollTotp } from '../support/totp.ts'

/** The number of errors RATE_LIMITED among the outcomes. */
const countLimited = (outcomes: PromiseSettledResult<unknown>[]): number =>
  outcomes.filter(
    (outcome) =>
      outcome.status === 'rejected' && (outcome.reason as { code?: string }).code === 'RATE_LIMITED',
  ).length

describe('a signed-in user', () => {
  test('can store a number of grants for one client in an hour, and more for others', async ({
    tenant,
    client,
    newClient,
    newPerson,
    browser,
    oidc,
    events,
  }) => {
    const user = await newPerson()
    const { code = '' } = answerIn((await oidc.signIn(browser, user.email, {})).location)
    for (let n = 0; n < env.grantsPerHour; n++) takeGrant(tenant, user.id, client.id)
    const countRows = async () => [
      await dbFor(tenant).grant.count({ where: { tenantId: tenant, userId: user.id } }),
      (await events({ userId: user.id })).length,
    ]
    const before = await countRows()
    const answers = await Promise.all(Array.from({ length: 20 }, () => oidc.exchange(code)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]))
    expect(Number(answers[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await countRows()).toEqual(before)
    const { id: otherId } = await newClient()
    expect(() => takeGrant(tenant, user.id, otherId)).not.toThrow()
    const { id: otherUser } = await newPerson()
    expect(() => takeGrant(tenant, otherUser, client.id)).not.toThrow()
  })

  test('can store four times as many for all clients, of which one cannot use up all', async ({
    tenant,
    client,
    newPerson,
    browser,
    oidc,
  }) => {
    const user = await newPerson()
    const { code = '' } = answerIn((await oidc.signIn(browser, user.email, {})).location)
    const take = (clientId: string, times: number) => () => {
      for (let n = 0; n < times; n++) takeGrant(tenant, user.id, clientId)
    }
    for (let n = 0; n < 4 * env.grantsPerHour; n++)
      if (n >= env.grantsPerHour) expect(take('a', 1)).toThrow('Too many grants of a user to a client')
      else take('a', 1)()
    for (const id of ['b', 'c', 'd']) take(id, env.grantsPerHour)()
    expect(take('e', 1)).toThrow(
      `Too many grants of a user in an hour: ${4 * env.grantsPerHour} are allowed.`,
    )
    expect((await oidc.exchange(code)).status).toBe(429)
    expect(
      await dbFor(tenant).grant.count({ where: { tenantId: tenant, clientId: client.id, userId: user.id } }),
    ).toBe(0)
  })

  test('who has signed in too often in an hour gets 429 and no session', async ({
    tenant,
    newPerson,
    newBrowser,
    oidc,
  }) => {
    const [user, other] = [await newPerson(), await newPerson()]
    for (let n = 0; n < env.grantsPerHour; n++) takeSignIn(tenant, user.id)
    const { location, response } = await oidc.signIn(newBrowser(), user.email, {})
    expect([location, response.status]).toEqual([null, 429])
    expect(await dbFor(tenant).session.count({ where: { tenantId: tenant, userId: user.id } })).toBe(0)
    expect(answerIn((await oidc.signIn(newBrowser(), other.email, {})).location).code).toMatch(/./)
  })

  test('can cause 30 announced changes in an hour, and still gets codes', async ({
    ctx,
    tenant,
    inbox,
    signedIn,
    gql,
  }) => {
    await updateSettings(ctx, { accountDeletionDays: 14 })
    const before = (await inbox.list(signedIn.email)).length
    const set = (requested: boolean) =>
      gql(
        `mutation { setViewerDeletion(input: {requested: ${requested}}) { __typename ... on UserError { code } } }`,
        {},
        { token: signedIn.token },
      )
    let limited = 0
    for (let n = 0; n < 80; n++) {
      const { body } = await set(n % 2 === 0)
      if (body.data.setViewerDeletion.__typename === 'RateLimitedError') limited += 1
    }
    const sent = (await inbox.list(signedIn.email)).length - before
    expect(sent).toBeGreaterThan(20)
    expect(sent).toBeLessThanOrEqual(60)
    expect(limited).toBeGreaterThan(5)
    await sendPasscode(ctx, 'email', { to: signedIn.email })
    expect((await inbox.list(signedIn.email)).length).toBe(before + sent + 1)
    expect(tenant).toBe(ctx.tenant)
  })

  test('makes 300 changes of the profile in an hour', async ({ signedIn, gql, events }) => {
    const fields = Array.from(
      { length: 20 },
      (_, n) => `c${n}: updateViewer(input: {nickname: "n${n}"}) { __typename }`,
    )
    for (let n = 0; n < 20; n++) await gql(`mutation { ${fields.join(' ')} }`, {}, { token: signedIn.token })
    const changes = await events({ type: 'user.updated', userId: signedIn.userId })
    expect(changes).toHaveLength(300)
  })
})

describe('a client that authenticates', () => {
  test.for(['par', 'device'])(
    'can store 200 MB of requests in an hour: %s',
    async (endpoint, { app, tenant, newClient }) => {
      const [client, other] = [await newClient(), await newClient()]
      takePendingRequest(tenant, client.id, STORAGE_BUDGETS.pendingRequest.tenant.bytes)
      const send = async ({ id, secret }: typeof client) => {
        const body = new URLSearchParams(authorizePath(tenant, { id }).split('?')[1])
        body.set('client_secret', secret)
        return (await app.fetch(`/${tenant}/oidc/${endpoint}`, { method: 'POST', body })).status
      }
      expect(await send(client)).toBe(429)
      expect(await send(other)).toBeLessThan(300)
    },
  )
})

describe('one recipient', () => {
  test('gets codes to sign in, however many users want the address', async ({
    ctx,
    tenant,
    inbox,
    newSignedIn,
  }) => {
    const address = `wanted@${tenant}.example`
    const users = await Promise.all(Array.from({ length: 6 }, () => newSignedIn()))
    await Promise.allSettled(
      users.flatMap(({ token }) =>
        Array.from({ length: 10 }, async () =>
          requestEmailChange(await authenticateAs(tenant, token), { email: address }),
        ),
      ),
    )
    const before = (await inbox.list(address)).length
    expect(before).toBeLessThanOrEqual(users.length)
    const budget = await dbFor(tenant).passcode.findFirst({
      where: { tenantId: tenant, address, origin: '' },
    })
    expect(budget?.sendCount).toBe(before)
    await createUser(ctx, { email: address })
    await sendPasscode(ctx, 'email', { to: address })
    expect((await inbox.list(address)).length).toBe(before + 1)
  })

  test('receives ten announcements in an hour of links that an administrator makes at once', async ({
    ctx,
    inbox,
    newPerson,
  }) => {
    const { id, email } = await newPerson()
    await enrollTotp(ctx, id)
    const before = (await inbox.list(email)).length
    const outcomes = await Promise.allSettled(
      Array.from({ length: 80 }, () => createCredentialEnrollmentToken(ctx, id, { send: false })),
    )
    expect(countLimited(outcomes)).toBe(70)
    expect((await inbox.list(email)).length - before).toBeLessThanOrEqual(10)
  })
})

describe('counts in the background', () => {
  test('begin anew in the next period', () => {
    const count = createBackgroundCounts('test', { limit: 2, seconds: 3600, maxKeys: 10 })
    const now = Date.UTC(2026, 0, 1, 10, 59, 50)
    const uses = [0, 1, 2].map(() => count('a', now))
    expect(uses.map(({ isExhausted }) => isExhausted)).toEqual([false, false, true])
    expect(uses[2]?.resetSeconds).toBe(10)
    expect(count('b', now).isExhausted).toBe(false)
    expect(count('a', now + 10_000).isExhausted).toBe(false)
  })
})
