import { decodeJwt } from 'jose'
import { expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { announceInsertion } from '../../src/database/insertions.ts'
import { startLogoutDeliveries } from '../../src/oidc/logout/logout-deliveries.ts'
import { startSessionIn } from './browser-session.ts'
import { bindProtocol } from './calls.ts'
import { dbFor, sql } from './database.ts'
import type { Person } from './fixtures.ts'
import { type Heard, startLogoutReceiver, validateLogoutToken } from './logout-receiver.ts'
import { PageBrowser } from './page-browser.ts'
import { answerIn, makeClient, makeUser } from './protocol.ts'
import { test as base } from './tenant-per-test.ts'

/**
 * Starts deliveries in this process with only the queue of `tenant`: other files of the process queue tokens
 * as well.
 */
export async function startDeliveriesOf(tenant: string): Promise<() => Promise<void>> {
  await sql('DELETE FROM "LogoutDelivery" WHERE "tenantId" <> $1', [tenant])
  return startLogoutDeliveries()
}

/** A user with a session in a browser, and the tokens of the first client. */
export type SignedInUser = {
  user: Person
  browser: PageBrowser
  sid: string
  idToken: string
  accessToken: string
}
export type ListeningClient = 'one' | 'two' | 'silent'

/**
 * `test` with a tenant for each test, two clients that receive logout tokens and one that does not, and
 * deliveries.
 */
export const test = base
  .extend('receiver', { scope: 'file' }, async ({ app: _app }, { onCleanup }) => {
    const receiver = await startLogoutReceiver()
    onCleanup(receiver.close)
    return receiver
  })
  .extend('clients', async ({ tenant, receiver }) => {
    const listening = (name: string) =>
      makeClient(tenant, { backchannelLogoutUrl: receiver.urlOf(`/${tenant}/${name}`) })
    return { one: await listening('one'), two: await listening('two'), silent: await makeClient(tenant) }
  })
  /** The platform's own context for the tenant. */
  .extend('platform', ({ tenant }) => createPlatformCtx(tenant))
  /** Deliveries of this process, started before the test; the test may stop and start them. */
  .extend('deliveries', { auto: true }, async ({ tenant, clients: _first }, { onCleanup }) => {
    const deliveries = { stop: await startDeliveriesOf(tenant), start: () => {} }
    deliveries.start = () => {
      deliveries.stop = startLogoutDeliveries()
    }
    onCleanup(() => deliveries.stop())
    return deliveries
  })
  .extend(
    'newBrowser',
    ({ app }) =>
      () =>
        new PageBrowser(app.origin),
  )
  .extend('oidc', ({ app, tenant, clients }) => bindProtocol(app, tenant, clients.one))
  .extend('newPerson', ({ tenant }) => {
    let count = 0
    return async () => {
      const email = `person${++count}@${tenant}.example`
      return { ...(await makeUser(tenant, email)), email }
    }
  })
  .extend(
    'pathOf',
    ({ tenant }) =>
      (name: string) =>
        `/${tenant}/${name}`,
  )
  /** The `sid`s of the logout tokens that a client received. */
  .extend(
    'sidsAt',
    ({ receiver, pathOf }) =>
      (name: string) =>
        receiver.toldAt(pathOf(name)),
  )
  /** Waits until a client has received so many logout tokens. */
  .extend(
    'received',
    ({ receiver, pathOf }) =>
      (name: string, times = 1) =>
        receiver.waitFor(pathOf(name), times),
  )
  /** An authorization code by the session of a browser. */
  .extend(
    'newCode',
    ({ oidc, clients }) =>
      async (browser: PageBrowser, name: ListeningClient): Promise<string> => {
        const response = await browser.fetch(oidc.authorizePath({ prompt: 'none' }, clients[name]))
        return answerIn(response.headers.get('location')).code as string
      },
  )
  .extend(
    'issueTokens',
    ({ oidc, clients, newCode }) =>
      async (browser: PageBrowser, name: ListeningClient) =>
        oidc.exchange(await newCode(browser, name), {}, clients[name]),
  )
  /** Signs a new user in at the first client and issues tokens of that session to the others. */
  .extend(
    'signIn',
    ({ newPerson, newBrowser, tenant, issueTokens }) =>
      async (names: ListeningClient[] = ['one']): Promise<SignedInUser> => {
        const user = await newPerson()
        const browser = newBrowser()
        const [first = 'one', ...others] = names
        await startSessionIn(browser, tenant, user.id)
        const { body } = await issueTokens(browser, first)
        for (const name of others) await issueTokens(browser, name)
        const { id_token: idToken = '', access_token: accessToken = '' } = body
        return { user, browser, sid: String(decodeJwt(idToken).sid), idToken, accessToken }
      },
  )
  /** Makes a user with so many sessions, all of which a client has tokens of. */
  .extend(
    'makeSessions',
    ({ tenant, newPerson, clients }) =>
      async (name: ListeningClient, number: number) => {
        const { id: userId } = await newPerson()
        const ids = Array.from({ length: number }, (_, index) => `session_${userId}_${index}`)
        const own = { tenantId: tenant, userId, kind: 'browser', expiresAt: new Date(Date.now() + 3_600_000) }
        await dbFor(tenant).session.createMany({
          data: ids.map((id) => ({ ...own, id, tokenHash: Buffer.from(id) })),
        })
        await dbFor(tenant).sessionClient.createMany({
          data: ids.map((sessionId) => ({ tenantId: tenant, sessionId, clientId: clients[name].id })),
        })
        return { userId, ids }
      },
  )
  .extend(
    'listQueued',
    ({ tenant }) =>
      () =>
        dbFor(tenant).logoutDelivery.findMany({ where: { tenantId: tenant } }),
  )
  /** The events about deliveries, oldest first. */
  .extend(
    'listOutcomes',
    ({ tenant }) =>
      async () =>
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
        })),
  )
  /** Waits until the queue of the tenant is empty. */
  .extend(
    'untilDelivered',
    ({ listQueued }) =>
      () =>
        expect.poll(listQueued, { timeout: 15_000, interval: 20 }).toEqual([]),
  )
  /**
   * Waits until so many attempts have failed: the pause after the first two is shorter than the rest of the
   * lease.
   */
  .extend(
    'untilFailed',
    ({ listQueued }) =>
      (attempts = 1) =>
        expect
          .poll(
            async () =>
              (await listQueued()).map((row) => [row.attempts, row.nextAt < new Date(Date.now() + 9000)]),
            { timeout: 15_000, interval: 20 },
          )
          .toEqual([[attempts, true]]),
  )
  /** Ends the pause before the next attempt. */
  .extend('endPause', ({ tenant }) => async () => {
    await sql('UPDATE "LogoutDelivery" SET "nextAt" = now() WHERE "tenantId" = $1', [tenant])
    announceInsertion('LogoutDelivery', tenant)
  })
  /** Makes every queued delivery the last attempt. */
  .extend(
    'expireQueue',
    ({ tenant }) =>
      () =>
        sql('UPDATE "LogoutDelivery" SET "expiresAt" = now() WHERE "tenantId" = $1', [tenant]),
  )
  .extend(
    'validate',
    ({ app, tenant, clients }) =>
      (name: ListeningClient, request: Heard | undefined) =>
        validateLogoutToken(app.origin, tenant, clients[name].id, request as Heard),
  )
