import { sha256 } from '../../src/core/crypto.ts'
import { bindProtocol } from './calls.ts'
import { dbFor } from './database.ts'
import { decide, enterCode, pollWith, startDevice } from './device-flow.ts'
import { PageBrowser } from './page-browser.ts'
import { makeClient, makeUser } from './protocol.ts'
import { test as base } from './tenant-per-test.ts'

/** The device code and the user code of a device authorization. */
export type Device = { code: string; shown: string }

/**
 * `test` with a tenant for each test, as limits count the user codes of a network; with a device, a browser
 * and its user.
 */
export const test = base
  .extend(
    'newClient',
    ({ tenant }) =>
      (more: object = {}) =>
        makeClient(tenant, more),
  )
  .extend('tv', ({ newClient }) => newClient({ name: 'Living room TV', appType: 'native', callbacks: [] }))
  .extend('web', ({ newClient }) => newClient())
  .extend('newPerson', ({ tenant }) => {
    let count = 0
    return async () => {
      const email = `person${++count}@${tenant}.example`
      return { ...(await makeUser(tenant, email, { name: 'Ada' })), email }
    }
  })
  .extend('user', ({ newPerson }) => newPerson())
  .extend(
    'newBrowser',
    ({ app }) =>
      () =>
        new PageBrowser(app.origin),
  )
  .extend('browser', ({ newBrowser }) => newBrowser())
  .extend('oidc', ({ app, tenant, web }) => bindProtocol(app, tenant, web))
  /** `browser` with a session of `user`. */
  .extend('signedIn', async ({ browser, oidc, user }) => {
    await oidc.signIn(browser, user.email)
    return browser
  })
  /** Sends a device authorization request. */
  .extend(
    'requestDevice',
    ({ app, tenant, tv }) =>
      (form?: Record<string, string>, client = tv) =>
        startDevice(app, tenant, client, form),
  )
  .extend(
    'newDevice',
    ({ requestDevice, tv }) =>
      async (form?: Record<string, string>, client = tv): Promise<Device> => {
        const { body } = await requestDevice(form, client)
        return { code: body.device_code as string, shown: body.user_code as string }
      },
  )
  /** Enters the user code of a device; returns the page that follows. */
  .extend(
    'enter',
    ({ browser, tenant }) =>
      (device: Device, by = browser) =>
        enterCode(by, tenant, device.shown),
  )
  /** Makes a device and approves it as `user`. */
  .extend(
    'newApprovedDevice',
    ({ tenant, signedIn, newDevice, tv }) =>
      async (form?: Record<string, string>, client = tv): Promise<Device> => {
        const device = await newDevice(form, client)
        const { path } = await decide(signedIn, tenant, device.shown, 'allow')
        if (path !== `/${tenant}/device/approved`) throw new Error(`not approved: ${path}`)
        return device
      },
  )
  .extend(
    'poll',
    ({ app, tenant, tv }) =>
      ({ code }: Pick<Device, 'code'>, client: { id: string; secret: string } = tv, more = {}) =>
        pollWith(app, tenant, client, code, more),
  )
  .extend(
    'findRow',
    ({ tenant }) =>
      ({ code }: Pick<Device, 'code'>) =>
        dbFor(tenant).deviceCode.findUnique({
          where: { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(code) } },
        }),
  )
  .extend(
    'findStatus',
    ({ findRow }) =>
      async (device: Device): Promise<string | undefined> =>
        (await findRow(device))?.status,
  )
  .extend(
    'changeRow',
    ({ tenant }) =>
      ({ code }: Device, data: object) =>
        dbFor(tenant).deviceCode.update({
          where: { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(code) } },
          data,
        }),
  )
  .extend('findSessionId', ({ tenant, user }) => async () => {
    const where = { tenantId: tenant, userId: user.id }
    return (await dbFor(tenant).session.findFirstOrThrow({ where })).id
  })
  .extend(
    'countGrants',
    ({ tenant }) =>
      () =>
        dbFor(tenant).grant.count({ where: { tenantId: tenant } }),
  )
  .extend('openPage', ({ browser }) => async (path: string, by = browser) => {
    const response = await by.fetch(path)
    return { path, status: response.status, html: await response.text() }
  })
