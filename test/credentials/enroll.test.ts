import { describe, expect } from 'vitest'
import { RATE_LIMITS } from '../../src/coordination/rate-limits.ts'
import { newId, sha256 } from '../../src/core/crypto.ts'
import { describeDevice } from '../../src/credentials/device.ts'
import {
  findEnrollment,
  finishEnrollment,
  readEnrollmentFinish,
  redeemEnrollment,
  startEnrollment,
} from '../../src/credentials/enrollment.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { rawRequest } from '../support/attacks.ts'
import { createCredential } from '../support/authenticator.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/enrollment.ts'
import type { Json } from '../support/json.ts'
import { countStatements } from '../support/statements.ts'

const HINTS = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36',
  'sec-ch-ua': '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-full-version-list':
    '"Chromium";v="142.0.7444.60", "Google Chrome";v="142.0.7444.60", "Not_A Brand";v="99.0"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'sec-ch-ua-platform-version': '"6.1.0"',
  'sec-ch-ua-arch': '"x86"',
  'sec-ch-ua-bitness': '"64"',
  'sec-ch-ua-model': '""',
}

describe('a user with a hundred passkeys', () => {
  test('can enroll no other one', async ({ ctx, tenant, userId, newToken, optionsFor }) => {
    const token = await newToken()
    const { response } = createCredential(await optionsFor(token))
    await dbFor(tenant).credential.createMany({
      data: Array.from({ length: 100 }, (_, n) => ({
        tenantId: tenant,
        id: newId('cred'),
        userId,
        externalId: `passkey ${n} of ${userId}`,
      })),
    })
    await expect(
      finishEnrollment(ctx, readEnrollmentFinish({ token, response }), {} as never),
    ).rejects.toMatchObject({
      status: 410,
    })
    await expect(startEnrollment(ctx, { token })).rejects.toMatchObject({ status: 409 })
    expect(await dbFor(tenant).credential.count({ where: { tenantId: tenant, userId } })).toBe(100)
  })
})

describe('POST /enroll/credential', () => {
  test('stores one passkey, and answers alike, when it is sent several times', async ({
    newToken,
    post,
    optionsFor,
    events,
    countCredentials,
  }) => {
    const token = await newToken()
    const { response } = createCredential(await optionsFor(token))
    const send = () => post('credential', { token, response })
    const answers = [...(await Promise.all([send(), send(), send()])), await send()]
    const [first] = answers
    expect(first?.body).toEqual({ credentialId: expect.any(String) })
    for (const { status, body } of answers) expect([status, body]).toEqual([201, first?.body])
    expect([await countCredentials(), await events({ type: 'credential.enrolled' })]).toEqual([
      1,
      [expect.anything()],
    ])
    const other = createCredential(await optionsFor(await newToken()))
    expect((await post('credential', { token, response: other.response })).status).toBe(410)
  })

  test('stores the public key with its device, records credential.enrolled and sets hasCredential', async ({
    tenant,
    events,
    userId,
    newToken,
    post,
    optionsFor,
    credentials,
  }) => {
    const token = await newToken()
    const made = createCredential(await optionsFor(token))
    const { status, body } = await post('credential', { token, response: made.response }, HINTS)
    expect(status).toBe(201)
    const [row] = await dbFor(tenant).credential.findMany({ where: { tenantId: tenant } })
    expect(row).toMatchObject({
      id: body.credentialId,
      userId,
      externalId: made.response.id,
      publicKey: made.publicKey,
      signCount: 0n,
      transports: ['internal'],
      byManagement: true,
    })
    expect(await credentials()).toEqual([
      {
        id: body.credentialId,
        type: 'public-key',
        name: null,
        publicKey: made.publicKey,
        lastUsedAt: null,
        createdAt: expect.any(String),
        device: {
          hash: expect.stringMatching(/^[\w-]{43}$/),
          swVersion: null,
          mobile: false,
          platform: 'Linux',
          architecture: 'x86',
          bitness: '64',
          model: null,
          platformVersion: '6.1.0',
          uaBrand: 'Google Chrome',
          uaVersion: '142.0.7444.60',
          lastSeenIp: '127.0.0.1',
          lastSeenAt: expect.any(String),
        },
      },
    ])
    const user = await dbFor(tenant).user.findUnique({
      where: { tenantId_id: { tenantId: tenant, id: userId } },
    })
    expect(user?.hasCredential).toBe(true)
    expect(await events({ type: 'credential.enrolled' })).toMatchObject([
      { userId, subjectIds: [body.credentialId], actorUserId: userId, actorClientId: null, ip: '127.0.0.1' },
    ])
    expect(JSON.stringify(await events())).not.toContain(token)
  })

  test('stores one credential for twenty concurrent enrollments by one token', async ({
    newToken,
    post,
    optionsFor,
    enroll,
    credentials,
  }) => {
    const token = await newToken()
    const answers = await Promise.all(Array.from({ length: 20 }, () => enroll(token)))
    const codes = answers.map(({ status }) => status)
    // A challenge is replaced by a later request for options; other attempts find the token redeemed.
    expect(codes.filter((code) => code === 201).length).toBeLessThanOrEqual(1)
    if (!codes.includes(201)) expect((await enroll(token)).status).toBe(201)
    expect(await credentials()).toHaveLength(1)

    const second = await newToken()
    const options = await optionsFor(second)
    const made = Array.from({ length: 20 }, () => createCredential(options).response)
    const raced = await Promise.all(made.map((response) => post('credential', { token: second, response })))
    expect(raced.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(
      raced.filter(({ status }) => status !== 201).every(({ status }) => [400, 410].includes(status)),
    ).toBe(true)
    expect(await credentials()).toHaveLength(2)
  })

  test('stores one credential when twenty responses pass the challenge', async ({
    tenant,
    ctx,
    events,
    userId,
    newToken,
    credentials,
  }) => {
    // Without the challenge, the token itself is redeemed in the transaction that stores the credential.
    const now = new Date()
    const device = describeDevice(tenant, new Headers(), { ip: null, now })
    const tokenHash = sha256(await newToken())
    const stored = await Promise.allSettled(
      Array.from({ length: 20 }, () => {
        const id = newId('cred')
        const passkey = {
          id,
          externalId: id,
          publicKey: 'x',
          signCount: 0,
          transports: [],
          backupEligible: false,
          backedUp: false,
          aaguid: '00000000-0000-0000-0000-000000000000',
        }
        return redeemEnrollment(ctx, tokenHash, { passkey, userId, device }, now)
      }),
    )
    expect(stored.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await credentials()).toHaveLength(1)
    expect(await events({ type: 'credential.enrolled' })).toHaveLength(1)
  })
})

describe('an enrollment', () => {
  test('uses BASE_URL in its link and its page, not the headers of a request', async ({
    token,
    app,
    tenant,
    userId,
    address,
  }) => {
    const { body } = await rawRequest(
      app.origin,
      `/${tenant}/api/v1/users/${userId}/credentials/enrollment-tokens`,
      {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        forwarded: 'host=evil.example',
        origin: 'https://evil.example',
      },
      { method: 'POST', body: '{}' },
    )
    const { token: enrollmentToken, uri } = JSON.parse(body)
    expect(uri).toBe(`http://localhost:3000/${tenant}/enroll?token=${enrollmentToken}`)
    expect(body).not.toContain('evil')
    expect(listInboxMessages(address)[0]?.body).toContain(uri)
    const forged = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
    const html = await rawRequest(app.origin, `/${tenant}/enroll?token=${enrollmentToken}`, forged)
    expect([html.status, html.body.includes('evil')]).toEqual([200, false])
  })

  test('needs one round trip for the options and eight for the response', async ({
    tenant,
    ctx,
    newToken,
    openPage,
  }) => {
    const token = await newToken()
    await openPage(token) // fills the cache of tenants
    let options: Json
    const started = await countStatements(async () => {
      options = await startEnrollment(ctx, { token })
    })
    const { response } = createCredential(options)
    const device = describeDevice(tenant, new Headers(), { ip: null, now: new Date() })
    const finished = await countStatements(() =>
      finishEnrollment(ctx, readEnrollmentFinish({ token, response }), device),
    )
    expect([started, finished]).toEqual([1, 8])
  })

  test('is limited for each network', async ({ ctx }) => {
    const visitor = { ...ctx, ip: '2001:db8::1' }
    await Promise.all(
      Array.from({ length: RATE_LIMITS.enrollCredential.points }, () => findEnrollment(visitor, 'x')),
    )
    for (const ip of ['2001:db8::1', '2001:db8::2'])
      await expect(findEnrollment({ ...ctx, ip }, 'x')).rejects.toThrow(
        expect.objectContaining({ status: 429 }),
      )
    expect(await findEnrollment({ ...ctx, ip: '2001:db9::1' }, 'x')).toBeNull()
  })

  test('leaves one valid of several', async ({ tenant, newToken, openPage }) => {
    for (let i = 0; i < 5; i++) await newToken()
    expect(await dbFor(tenant).enrollmentToken.findMany({ where: { tenantId: tenant } })).toHaveLength(1)
    const raced = await Promise.all(Array.from({ length: 8 }, () => newToken()))
    const statuses = await Promise.all(raced.map(async (token) => (await openPage(token)).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  })
})
