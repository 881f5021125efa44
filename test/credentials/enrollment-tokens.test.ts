import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import '../../src/core/log.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { CREATE_ENROLLMENT_TOKEN, test } from '../support/credentials.ts'
import { dbFor } from '../support/database.ts'
import { countStatements } from '../support/statements.ts'

const path = (userId: string) => `/users/${userId}/credentials/enrollment-tokens`

describe('POST /users/{userId}/credentials/enrollment-tokens', () => {
  test('returns links made of BASE_URL, as createCredentialEnrollmentToken does', async ({
    tenant,
    rest,
    gql,
    userId,
  }) => {
    const { status, headers, body } = await rest('POST', path(userId), { send: false })
    expect([status, headers.get('location')]).toEqual([201, null])
    expect(Buffer.from(body.token, 'base64url')).toHaveLength(32)
    expect(body).toEqual({
      token: body.token,
      uri: `http://localhost:3000/${tenant}/enroll?token=${body.token}`,
      deepLink: `vestibule.app:/${tenant}/enroll?token=${body.token}`,
      usableAt: expect.any(String),
    })
    const answer = await gql(CREATE_ENROLLMENT_TOKEN, { input: { userId, type: 'PUBLIC_KEY', send: false } })
    const links = answer.body.data.createCredentialEnrollmentToken
    expect(links.uri).toBe(`http://localhost:3000/${tenant}/enroll?token=${links.token}`)
    expect(links.token).not.toBe(body.token)
  })

  test('stores the hash of the token, and the token in no event', async ({
    tenant,
    rest,
    events,
    userId,
  }) => {
    const { body } = await rest('POST', path(userId), { send: false })
    const rows = await dbFor(tenant).enrollmentToken.findMany({ where: { tenantId: tenant } })
    expect(rows).toMatchObject([
      { userId, type: 'public-key', byManagement: true, sentTo: null, usedAt: null },
    ])
    const log = await events()
    expect(await events({ type: 'credential.enrollment_created' })).toMatchObject([
      { userId, actorClientId: expect.any(String), detail: { channel: null } },
    ])
    for (const stored of [JSON.stringify(rows), JSON.stringify(log)]) expect(stored).not.toContain(body.token)
  })

  test.for<[name: string, body: object, field: string]>([
    ['another type', { type: 'password', send: false }, 'type'],
    ['a flag that is not a boolean', { send: 'no' }, 'send'],
    ['an unknown field', { send: false, to: 'eve@evil.example' }, 'to'],
    ['a user with no verified address', {}, 'send'],
  ])('rejects %s', async ([_what, body, field], { rest, userId }) => {
    expect(await rest('POST', path(userId), body)).toMatchObject({
      status: 400,
      body: { fields: [{ field }] },
    })
  })

  test('rejects unknown and locked users, as createCredentialEnrollmentToken does', async ({
    tenant,
    rest,
    gql,
    userId,
  }) => {
    expect(await rest('POST', path(newId('user')), { send: false })).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    })
    const unknown = await gql(CREATE_ENROLLMENT_TOKEN, { input: { userId: newId('user'), send: false } })
    expect(unknown.body.data.createCredentialEnrollmentToken).toEqual({ code: 'NOT_FOUND' })
    await rest('PATCH', `/users/${userId}`, { locked: true })
    expect(await rest('POST', path(userId), { send: false })).toMatchObject({
      status: 403,
      body: { code: 'USER_LOCKED' },
    })
    const locked = await gql(CREATE_ENROLLMENT_TOKEN, { input: { userId, send: false } })
    expect(locked.body.data.createCredentialEnrollmentToken).toEqual({ code: 'USER_LOCKED' })
    expect(await dbFor(tenant).enrollmentToken.count({ where: { tenantId: tenant } })).toBe(0)
  })

  test('needs seven round trips', async ({ ctx, userId }) => {
    const create = () => createCredentialEnrollmentToken(ctx, userId, { send: false })
    // The first one also reads the tenant.
    await create()
    expect(await countStatements(create)).toBe(7)
  })
})
