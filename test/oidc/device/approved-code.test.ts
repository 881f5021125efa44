import { describe, expect } from 'vitest'
import { revokeUserConsent } from '../../../src/consents/consents.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { deleteUser, lockUser } from '../../../src/users/users.ts'
import { dbFor } from '../../support/database.ts'
import { decide } from '../../support/device-flow.ts'
import { test as base } from '../../support/devices.ts'

const test = base
  .extend('device', ({ newApprovedDevice }) => newApprovedDevice())
  .extend('expectDeleted', ({ poll, findStatus, countGrants, device }) => async () => {
    expect(await poll(device)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await countGrants()).toBe(0)
    expect(await findStatus(device)).toBeUndefined()
  })

describe('an approved device code', () => {
  test('is deleted when its user is locked', async ({ tenant, user, expectDeleted }) => {
    await lockUser(createPlatformCtx(tenant), user.id)
    await expectDeleted()
  })
  test('is deleted with its user', async ({ tenant, user, expectDeleted }) => {
    await deleteUser(createPlatformCtx(tenant), user.id)
    await expectDeleted()
  })
  test('is deleted when the session ends', async ({ tenant, findSessionId, expectDeleted }) => {
    await endSession(createPlatformCtx(tenant), await findSessionId(), 'logout')
    await expectDeleted()
  })
  test('is deleted when the consent is revoked', async ({ tenant, tv, user, expectDeleted }) => {
    await revokeUserConsent(createPlatformCtx(tenant), user.id, tv.id)
    await expectDeleted()
  })
})

test('the refresh token of a device is revoked with the consent (OIDC Core, section 11)', async ({
  tenant,
  oidc,
  tv,
  user,
  poll,
  device,
}) => {
  const { body } = await poll(device)
  await revokeUserConsent(createPlatformCtx(tenant), user.id, tv.id)
  expect(await oidc.refresh(body.refresh_token as string, {}, tv)).toMatchObject({
    body: { error: 'invalid_grant' },
  })
})

test('the session of a device is registered for back-channel logout', async ({
  tenant,
  newClient,
  signedIn,
  requestDevice,
  poll,
  findSessionId,
}) => {
  const notified = await newClient({ backchannelLogoutUrl: 'https://rp.example.com/logout' })
  const { body } = await requestDevice({ scope: 'openid' }, notified)
  await decide(signedIn, tenant, body.user_code as string, 'allow')
  expect((await poll({ code: body.device_code as string }, notified)).status).toBe(200)
  expect(await dbFor(tenant).sessionClient.findMany({ where: { tenantId: tenant } })).toMatchObject([
    { sessionId: await findSessionId(), clientId: notified.id },
  ])
})
