import { describe, expect } from 'vitest'
import { runCleanup } from '../../../src/jobs/cleanup.ts'
import { dbFor } from '../../support/database.ts'
import { decide } from '../../support/device-flow.ts'
import { test as base } from '../../support/devices.ts'
import { toText } from '../../support/events.ts'

const test = base.extend('device', ({ newDevice }) => newDevice())

describe('a poll (RFC 8628, sections 3.4 and 3.5)', () => {
  test('before the decision returns authorization_pending and records no event', async ({
    tenant,
    poll,
    device,
  }) => {
    const { status, headers, body } = await poll(device)
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: 'authorization_pending', error_description: 'The user has not decided yet.' },
    })
    expect(headers.get('cache-control')).toBe('no-store')
    const where = { tenantId: tenant, requestId: headers.get('x-request-id') as string }
    expect(await dbFor(tenant).event.count({ where })).toBe(0)
  })

  test('that is too early returns slow_down and extends the interval by 5 s', async ({
    tenant,
    signedIn,
    poll,
    findRow,
    changeRow,
    device,
  }) => {
    expect(await poll(device)).toMatchObject({ body: { error: 'authorization_pending' } })
    for (const intervalSeconds of [10, 15]) {
      expect(await poll(device)).toMatchObject({ status: 400, body: { error: 'slow_down' } })
      expect(await findRow(device))?.toMatchObject({ intervalSeconds, status: 'pending' })
    }
    await changeRow(device, { lastPolledAt: new Date(Date.now() - 5000) })
    expect(await poll(device)).toMatchObject({ body: { error: 'slow_down' } })
    await changeRow(device, { lastPolledAt: new Date(Date.now() - 20_000) })
    expect(await poll(device)).toMatchObject({ body: { error: 'authorization_pending' } })
    expect((await findRow(device))?.intervalSeconds).toBe(20)
    // After the approval the interval no longer matters.
    await decide(signedIn, tenant, device.shown, 'allow')
    expect((await poll(device)).status).toBe(200)
  })

  test('returns access_denied after a denial, each time', async ({ tenant, signedIn, poll, device }) => {
    const { path, html } = await decide(signedIn, tenant, device.shown, 'deny')
    expect(path).toBe(`/${tenant}/device/denied`)
    expect(html).toContain('Your device is not connected')
    for (let i = 0; i < 2; i++)
      expect(await poll(device)).toMatchObject({ status: 400, body: { error: 'access_denied' } })
  })

  test('returns expired_token after the code has expired, approved or not', async ({
    newApprovedDevice,
    poll,
    changeRow,
    device,
  }) => {
    const expired = { expiresAt: new Date(Date.now() - 1) }
    await changeRow(device, expired)
    expect(await poll(device)).toMatchObject({ status: 400, body: { error: 'expired_token' } })
    const late = await newApprovedDevice()
    await changeRow(late, expired)
    expect(await poll(late)).toMatchObject({ status: 400, body: { error: 'expired_token' } })
  })

  test('of an unknown code or of another client returns invalid_grant and changes nothing', async ({
    tenant,
    newClient,
    signedIn,
    poll,
    device,
  }) => {
    const other = await newClient({ appType: 'native', callbacks: [] })
    const rejected = { status: 400, body: { error: 'invalid_grant' } }
    for (const wrong of [
      'x',
      device.code.slice(0, -1),
      `${device.code}x`,
      device.code.toLowerCase(),
      device.shown,
    ])
      expect(await poll({ code: wrong })).toMatchObject(rejected)
    expect(await poll(device, other)).toMatchObject(rejected)
    await decide(signedIn, tenant, device.shown, 'allow')
    expect(await poll(device, other)).toMatchObject(rejected)
    expect((await poll(device)).status).toBe(200)
    expect(await poll({ code: '' })).toMatchObject({ body: { error: 'invalid_request' } })
  })

  test('that is rejected records the error without a code', async ({ tenant, poll, device }) => {
    const { headers } = await poll({ code: `${device.code}x` })
    const requestId = headers.get('x-request-id') as string
    const events = await dbFor(tenant).event.findMany({ where: { tenantId: tenant, requestId } })
    expect(events).toMatchObject([{ type: 'token.refused', detail: { error: 'invalid_grant' } }])
    expect(toText(events)).not.toContain(device.code)
  })
})

test('device codes are deleted an hour after they have expired', async ({ newDevice, poll, changeRow }) => {
  const [old, live] = [await newDevice(), await newDevice()]
  await changeRow(old, { expiresAt: new Date(Date.now() - 3_601_000) })
  await changeRow(live, { expiresAt: new Date(Date.now() - 3_000_000) })
  await runCleanup(new Date())
  expect(await poll(old)).toMatchObject({ body: { error: 'invalid_grant' } })
  expect(await poll(live)).toMatchObject({ body: { error: 'expired_token' } })
})
