import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROLE_NAMES } from '../src/ctx.ts'
import { dbFor } from '../src/db.ts'
import { authenticateToken } from '../src/oidc/token/access-tokens.ts'
import { updateViewer } from '../src/self/own-profile.ts'
import { makeUser } from './oidc/provider.ts'
import { newTenant } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { logOf } from './support/events.ts'
import { makeSpa, type PersonClient, signInAs } from './support/people.ts'

let app: TestApp
let tenant: string
let spa: PersonClient
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  spa = await makeSpa(tenant)
})
afterAll(() => app.close())

const UPDATE = `mutation ($input: UpdateViewerInput!) { updateViewer(input: $input) {
  __typename
  ... on ViewerPayload { user { name givenName locale zoneinfo picture address { locality country } userMetadata updatedAt } }
  ... on ValidationError { fields { field description } }
  ... on ConflictError { fields { field } }
} }`

describe('updateViewer', () => {
  test('changes the profile of whoever calls, and the log says who did it and which fields', async () => {
    const user = await makeUser(tenant, 'ada@example.com', {
      name: 'A',
      givenName: 'Ada',
      address: { country: 'UK' },
    })
    const { token, userId } = await signInAs(app, tenant, spa, 'ada@example.com')
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
    const { body } = await app.gql(tenant, token, UPDATE, { input: { fields } })
    expect(body.data.updateViewer).toMatchObject({
      __typename: 'ViewerPayload',
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
    const [event] = (await logOf(tenant)).filter(({ type }) => type === 'user.updated')
    expect(event).toMatchObject({
      userId,
      actorUserId: userId,
      actorClientId: spa.id,
      detail: null,
      changedFields: expect.arrayContaining(['name', 'givenName', 'locale', 'address', 'userMetadata']),
    })
    const expectedUpdatedAt = user.updatedAt.toISOString()
    const stale = await app.gql(tenant, token, UPDATE, {
      input: { expectedUpdatedAt, fields: { name: 'X' } },
    })
    expect(stale.body.data.updateViewer).toEqual({
      __typename: 'ConflictError',
      fields: [{ field: 'expectedUpdatedAt' }],
    })
  })

  test('names every faulty field at once', async () => {
    await makeUser(tenant, 'faulty@example.com')
    const { token } = await signInAs(app, tenant, spa, 'faulty@example.com')
    const fields = { zoneinfo: 'Nowhere/Land', picture: 'javascript:alert(1)', birthdate: '2001-02-30' }
    const { body } = await app.gql(tenant, token, UPDATE, { input: { fields } })
    expect(body.data.updateViewer.fields.map(({ field }: { field: string }) => field).sort()).toEqual([
      'birthdate',
      'picture',
      'zoneinfo',
    ])
  })

  const NOT_ONES_OWN = {
    email: 'eve@example.com',
    emailVerified: true,
    phoneNumber: '+41791112233',
    phoneNumberVerified: true,
    locked: false,
    appMetadata: { plan: 'gold' },
    roles: ['ADMIN'],
    id: 'user_01m7xeb1sbendby702xerkqv3p',
    tenantId: 'system',
    externalId: 'x',
    hasCredential: true,
    lastSeenAt: null,
  }
  test.each([null, ...ROLE_NAMES])(
    'takes nothing else, of a person with role %s (security 14, 15)',
    async (role) => {
      const email = `${role}@example.com`
      const user = await makeUser(tenant, email)
      const where = { tenantId_id: { tenantId: tenant, id: user.id } }
      if (role) await dbFor(tenant).user.update({ where, data: { roles: [role] } })
      const { token } = await signInAs(app, tenant, spa, email)
      const row = () => dbFor(tenant).user.findUniqueOrThrow({ where, omit: { lastSeenAt: true } })
      const before = await row()
      for (const [field, value] of Object.entries(NOT_ONES_OWN)) {
        const input = { fields: { [field]: value } }
        const { body } = await app.gql(tenant, token, UPDATE, { input })
        expect([field, body.errors?.[0]?.extensions.code]).toEqual([field, 'BAD_USER_INPUT'])
        // The service refuses it too, whatever a transport lets pass.
        const target = { tenant, requestId: 'test', ip: null, userAgent: null }
        const { ctx } = await authenticateToken(target, `Bearer ${token}`)
        await expect(updateViewer(ctx, input.fields)).rejects.toMatchObject({
          code: 'BAD_USER_INPUT',
          fields: [{ field }],
        })
      }
      expect(await row()).toEqual(before)
    },
  )
})
