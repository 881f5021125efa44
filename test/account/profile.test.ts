import { describe, expect } from 'vitest'
import { authenticateToken } from '../../src/access/authenticate.ts'
import { updateViewer } from '../../src/account/profile.ts'
import { ROLE_NAMES } from '../../src/core/scopes.ts'
import { updateUser } from '../../src/users/users.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/fixtures.ts'

const UPDATE = `mutation ($input: UpdateViewerInput!) { updateViewer(input: $input) {
  __typename
  ... on UpdateViewerPayload { user { name givenName locale zoneinfo picture address { locality country } userMetadata updatedAt } }
  ... on ValidationError { fields { field description } }
  ... on ConflictError { fields { field } }
} }`

describe('updateViewer', () => {
  test('changes the profile of the caller and records who changed which fields', async ({
    gql,
    events,
    spa,
    newPerson,
    signIn,
  }) => {
    const user = await newPerson({
      name: 'A',
      givenName: 'Ada',
      address: { country: 'UK' },
    })
    const { token, userId } = await signIn(user.email)
    expect(userId).toBe(user.id)
    const fields = {
      name: 'Ada Lovelace',
      givenName: '',
      locale: 'en-gb',
      zoneinfo: 'europe/london',
      picture: 'https://example.com/ada.png',
      address: { locality: 'London' },
      userMetadata: { theme: 'dark' },
    }
    const { body } = await gql(UPDATE, { input: fields }, { token })
    expect(body.data.updateViewer).toMatchObject({
      __typename: 'UpdateViewerPayload',
      user: {
        name: 'Ada Lovelace',
        givenName: null,
        locale: 'en-GB',
        zoneinfo: 'Europe/London',
        picture: 'https://example.com/ada.png',
        address: { locality: 'London', country: 'UK' },
        userMetadata: { theme: 'dark' },
      },
    })
    const [event] = await events({ type: 'user.updated' })
    expect(event).toMatchObject({
      userId,
      actorUserId: userId,
      actorClientId: spa.id,
      detail: null,
      changedFields: expect.arrayContaining(['name', 'givenName', 'locale', 'address', 'userMetadata']),
    })
    const expectedUpdatedAt = user.updatedAt.toISOString()
    const stale = await gql(UPDATE, { input: { expectedUpdatedAt, name: 'X' } }, { token })
    expect(stale.body.data.updateViewer).toEqual({
      __typename: 'ConflictError',
      fields: [{ field: 'expectedUpdatedAt' }],
    })
  })

  test('reports every invalid field at once', async ({ gql, person, signIn }) => {
    const { token } = await signIn(person.email)
    const fields = { zoneinfo: 'Nowhere/Land', picture: 'javascript:alert(1)', birthdate: '2001-02-30' }
    const { body } = await gql(UPDATE, { input: fields }, { token })
    expect(body.data.updateViewer.fields.map(({ field }: { field: string }) => field).sort()).toEqual([
      'birthdate',
      'picture',
      'zoneinfo',
    ])
  })

  const SET_BY_OTHERS = {
    email: 'eve@example.com',
    emailVerified: true,
    phoneNumber: '+41791112233',
    phoneNumberVerified: true,
    locked: false,
    appMetadata: { plan: 'gold' },
    roles: ['admin'],
    id: 'user_01m7xeb1sbendby702xerkqv3p',
    tenantId: 'system',
    externalId: 'x',
    hasCredential: true,
    lastSeenAt: null,
  }
  test.for([['no role', null], ...ROLE_NAMES.map((role) => [`role ${role}`, role] as const)] as const)(
    'rejects every other field from a user with %s',
    async ([_title, role], { tenant, gql, person, signIn }) => {
      const where = { tenantId_id: { tenantId: tenant, id: person.id } }
      if (role) await dbFor(tenant).user.update({ where, data: { roles: [role] } })
      const { token } = await signIn(person.email)
      const row = () => dbFor(tenant).user.findUniqueOrThrow({ where, omit: { lastSeenAt: true } })
      const before = await row()
      for (const [field, value] of Object.entries(SET_BY_OTHERS)) {
        const input = { [field]: value }
        const { body } = await gql(UPDATE, { input }, { token })
        expect([field, body.errors?.[0]?.extensions.code]).toEqual([field, 'BAD_USER_INPUT'])
        // The service rejects the field as well, independently of the transport.
        const target = { tenant, requestId: 'test', ip: null, userAgent: null }
        const { ctx } = await authenticateToken(target, `Bearer ${token}`)
        await expect(updateViewer(ctx, input)).rejects.toMatchObject({
          code: 'BAD_USER_INPUT',
          fields: [{ field }],
        })
      }
      expect(await row()).toEqual(before)
    },
  )

  test('stores 8 KB of userMetadata at most, and keeps what an administrator has written', async ({
    gql,
    ctx,
    spa: _,
    newPerson,
    signIn,
  }) => {
    const ofSize = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
    const user = await newPerson()
    const { token } = await signIn(user.email)
    const update = async (userMetadata: object) =>
      (await gql(UPDATE, { input: { userMetadata } }, { token })).body.data?.updateViewer
    expect(await update(ofSize(8193))).toEqual({
      __typename: 'ValidationError',
      fields: [
        { field: 'userMetadata', description: 'must have at most 8 KB, unless an administrator writes it' },
      ],
    })
    expect(await update(ofSize(8192))).toMatchObject({ user: { userMetadata: ofSize(8192) } })
    await updateUser(ctx, user.id, { userMetadata: ofSize(65_000) })
    expect(await update(ofSize(65_000))).toMatchObject({ __typename: 'UpdateViewerPayload' })
    expect(await update(ofSize(64_999))).toMatchObject({ __typename: 'ValidationError' })
  })
})
