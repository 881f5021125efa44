import { decodeJwt } from 'jose'
import { dbFor, type Sql } from '../../src/database/db.ts'
import { test as base } from './fixtures.ts'
import { answerIn } from './protocol.ts'

/** `test` with a client whose logout tokens stay queued: nothing delivers them. */
export const test = base
  // No deliveries run here, so that the queue can be read.
  .extend('listening', { scope: 'file' }, ({ newClient }) =>
    newClient({ backchannelLogoutUrl: 'https://rp.example.com/logged-out' }),
  )
  .extend('silent', { scope: 'file' }, ({ newClient }) => newClient())
  /** Signs a user in at `silent` and issues a code to `listening`, which has no token of the session yet. */
  .extend('withCode', { scope: 'file' }, ({ newPerson, newBrowser, oidc, listening, silent }) => async () => {
    const user = await newPerson()
    const browser = newBrowser()
    const { location } = await oidc.signIn(browser, user.email, {}, silent)
    const { body } = await oidc.exchange(answerIn(location).code as string, {}, silent)
    const sid = String(decodeJwt(body.id_token as string).sid)
    const answer = await browser.fetch(oidc.authorizePath({ prompt: 'none' }, listening))
    return { user, sid, code: answerIn(answer.headers.get('location')).code as string }
  })
  .extend(
    'queuedFor',
    { scope: 'file' },
    ({ tenant }) =>
      async (sessionId: string) =>
        (await dbFor(tenant).logoutDelivery.findMany({ where: { tenantId: tenant, sessionId } })).map(
          ({ clientId, userId }) => ({ clientId, userId }),
        ),
  )
  // The redemption has locked user and session and waits for the client.
  .extend(
    'holdClient',
    { scope: 'file' },
    ({ tenant, listening }) =>
      (sql: Sql) =>
        sql('SELECT FROM "Client" WHERE "tenantId" = $1 AND "id" = $2 FOR UPDATE', [tenant, listening.id]),
  )
