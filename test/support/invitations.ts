import { createInvitation } from '../../src/invitations/invitations.ts'
import { dbFor } from './database.ts'
import { test as base } from './fixtures.ts'
import type { PageBrowser } from './page-browser.ts'

let guests = 0

/** `test` with invitations of new addresses, and the pages that their links open. */
export const test = base
  /** An address that no user has. */
  .extend('guest', ({ email }) => email(`guest${++guests}`))
  /** Invites `guest`, or another address. */
  .extend(
    'invite',
    ({ ctx, guest }) =>
      (more: object = {}) =>
        createInvitation(ctx, { email: guest, ...more }),
  )
  /** The path of the newest link that was sent to an address. */
  .extend('linkFor', ({ inbox }) => async (address: string): Promise<string> => {
    const [message] = await inbox.list(address)
    const url = /http\S+\/invitation\?token=\S+/.exec(message?.body ?? '')?.[0] ?? 'http://none/'
    return new URL(url).pathname + new URL(url).search
  })
  .extend('openLink', ({ browser }) => async (path: string, by: PageBrowser = browser) => {
    const { response } = await by.open(path)
    return { html: await response.text(), path, response }
  })
  .extend(
    'findUsers',
    ({ tenant }) =>
      (address: string) =>
        dbFor(tenant).user.findMany({ where: { tenantId: tenant, emailKey: address.toLowerCase() } }),
  )
  .extend(
    'findSessions',
    ({ tenant }) =>
      (userId: string | undefined) =>
        dbFor(tenant).session.findMany({ where: { tenantId: tenant, userId: userId ?? '' } }),
  )
