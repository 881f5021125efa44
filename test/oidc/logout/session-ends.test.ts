import { describe, expect } from 'vitest'
import { revokeViewerSessions } from '../../../src/account/sessions.ts'
import { type Ctx, createPlatformCtx, toUserCtx } from '../../../src/context/context.ts'
import { runCleanup } from '../../../src/jobs/cleanup.ts'
import { revokeSession, revokeUserSessions } from '../../../src/sessions/revoke-sessions.ts'
import { deleteUser, lockUser, updateUser } from '../../../src/users/users.ts'
import { resetCooldown } from '../../support/account.ts'
import { type SignedInUser, test } from '../../support/backchannel-logout.ts'
import type { Protocol } from '../../support/calls.ts'
import { sql } from '../../support/database.ts'
import { accountIn, type PageBrowser } from '../../support/page-browser.ts'

type Means = {
  platform: Ctx
  oidc: Protocol
  silent: { id: string; secret: string }
  newBrowser: () => PageBrowser
}

const toOwnerCtx = (platform: Ctx, { user }: SignedInUser): Ctx => {
  const own = toUserCtx(platform, { userId: user.id, sessionId: 'session_another' })
  return { ...own, actor: { ...own.actor, oidcScopes: new Set(['account']) } as Ctx['actor'] }
}
const expireSession = ({ tenant }: Ctx, { sid }: SignedInUser) =>
  sql(
    'UPDATE "Session" SET "expiresAt" = now() - interval \'1 second\' WHERE "tenantId" = $1 AND "id" = $2',
    [tenant, sid],
  )

describe('the clients of a session receive no logout token when', () => {
  test('its user signs in again with the browser', async ({
    clients,
    tenant,
    oidc,
    sidsAt,
    signIn,
    untilDelivered,
  }) => {
    const { user, browser, sid } = await signIn(['one', 'two'])
    await resetCooldown(tenant, user.email)
    await oidc.signIn(browser, user.email, { prompt: 'login' }, clients.one)
    await untilDelivered()
    expect([sidsAt('one'), sidsAt('two')]).toEqual([[], []])
    // One token for each client when the session does end, also for the client with tokens of both sign-ins.
    await revokeSession(createPlatformCtx(tenant), sid)
    await untilDelivered()
    expect([sidsAt('one'), sidsAt('two')]).toEqual([[sid], [sid]])
  })
})

describe('the clients of a session receive a logout token when', () => {
  test.for<[name: string, end: (by: SignedInUser, means: Means) => Promise<unknown>]>([
    [
      'the user signs out',
      ({ browser, idToken }, { platform }) =>
        browser.fetch(`/${platform.tenant}/oidc/logout?${new URLSearchParams({ id_token_hint: idToken })}`),
    ],
    [
      'the user removes the account from the browser',
      async ({ browser }, { oidc, silent }) => {
        const { response, path } = await browser.open(
          oidc.authorizePath({ prompt: 'select_account' }, silent),
        )
        const html = await response.text()
        await browser.submit({ html, path }, { step: 'remove', account: accountIn(html) })
      },
    ],
    ['an administrator revokes it', ({ sid }, { platform }) => revokeSession(platform, sid)],
    [
      'an administrator revokes all sessions of the user',
      ({ user }, { platform }) => revokeUserSessions(platform, user.id),
    ],
    [
      'the user revokes it in another session',
      (by, { platform }) => revokeViewerSessions(toOwnerCtx(platform, by), {}),
    ],
    ['the user is locked', ({ user }, { platform }) => lockUser(platform, user.id)],
    ['the user is deleted', ({ user }, { platform }) => deleteUser(platform, user.id)],
    [
      'the session expires',
      async (by, { platform }) => {
        await expireSession(platform, by)
        await runCleanup()
      },
    ],
    [
      'the session expires and the user is deleted before the cleanup',
      async (by, { platform }) => {
        await expireSession(platform, by)
        await deleteUser(platform, by.user.id)
      },
    ],
    [
      'the email address is verified for the first time',
      async ({ user }, { platform, oidc, silent, newBrowser }) => {
        await updateUser(platform, user.id, { emailVerified: false })
        // Otherwise the next code would have to wait for half a minute.
        await sql('DELETE FROM "Passcode" WHERE "tenantId" = $1', [platform.tenant])
        await oidc.signIn(newBrowser(), user.email, {}, silent)
      },
    ],
  ])(
    '%s',
    async ([_name, end], {
      clients,
      newBrowser,
      oidc,
      platform,
      received,
      sidsAt,
      signIn,
      untilDelivered,
      validate,
    }) => {
      const ended = await signIn(['one', 'two'])
      const other = await signIn(['one'])
      await end(ended, { platform, oidc, silent: clients.silent, newBrowser })
      await untilDelivered()
      expect([sidsAt('one'), sidsAt('two')]).toEqual([[ended.sid], [ended.sid]])
      for (const name of ['one', 'two'] as const)
        expect((await validate(name, (await received(name))[0])).claims).toMatchObject({
          sub: ended.user.id,
          sid: ended.sid,
        })
      expect((await oidc.userinfo(other.accessToken)).status).toBe(200)
    },
  )
})
