import { describe, expect } from 'vitest'
import { toTypes } from '../support/events.ts'
import { test } from '../support/fixtures.ts'
import { invalidFields } from '../support/issues.ts'
import { toOutcome } from '../support/user-writers.ts'

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

describe('POST /users', () => {
  test('returns 201 with every field of the specification, in its order, and a Location', async ({
    tenant,
    rest,
    events,
  }) => {
    const { status, headers, body } = await rest('POST', '/users', {
      name: 'Ada Lovelace',
      email: 'Ada@Example.com',
      address: { locality: 'London' },
      userMetadata: { plan: 'gold' },
    })
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/${tenant}/api/v1/users/${body.id}`)
    expect(body).toEqual({
      id: expect.stringMatching(/^user_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      name: 'Ada Lovelace',
      givenName: null,
      familyName: null,
      middleName: null,
      nickname: null,
      preferredUsername: null,
      profile: null,
      picture: null,
      website: null,
      email: 'Ada@Example.com',
      emailVerified: false,
      gender: null,
      birthdate: null,
      zoneinfo: null,
      locale: null,
      phoneNumber: null,
      phoneNumberVerified: false,
      locked: false,
      lockedAt: null,
      termsVersion: null,
      termsAcceptedAt: null,
      address: {
        formatted: null,
        streetAddress: null,
        locality: 'London',
        region: null,
        postalCode: null,
        country: null,
      },
      userMetadata: { plan: 'gold' },
      appMetadata: {},
      lastSeenAt: null,
      updatedAt: expect.stringMatching(ISO),
      createdAt: expect.stringMatching(ISO),
    })
    expect(toTypes(await events({ userId: body.id }))).toEqual(['user.created'])
  })

  test('accepts a body without a field', async ({ create }) => {
    const user = await create('/users')
    expect(user).toMatchObject({
      email: null,
      phoneNumber: null,
      address: null,
      userMetadata: {},
      locked: false,
    })
  })

  test('treats null as not given', async ({ create }) => {
    const user = await create('/users', {
      name: null,
      email: null,
      phoneNumber: null,
      locked: null,
      address: null,
      userMetadata: null,
    })
    expect(user).toMatchObject({
      name: null,
      email: null,
      phoneNumber: null,
      locked: false,
      address: null,
      userMetadata: {},
    })
  })

  test('rejects an empty string by the name of the member', async ({ rest }) => {
    const names = ['name', 'email', 'birthdate', 'phoneNumber', 'locked', 'userMetadata'] as const
    const { status, body } = await rest('POST', '/users', {
      ...Object.fromEntries(names.map((name) => [name, ''])),
      address: { country: '' },
    })
    expect(status).toBe(400)
    expect(body.fields.map(({ field }: { field: string }) => field).sort()).toEqual(
      [...names, 'address.country'].sort(),
    )
  })

  test('creates a locked user with locked true', async ({ create, events }) => {
    const user = await create('/users', { locked: true })
    expect(user).toMatchObject({ locked: true, lockedAt: user.createdAt })
    expect(toTypes(await events({ userId: user.id }))).toEqual(['user.created', 'user.locked'])
  })

  test('rejects response-only and unknown members by name', async ({ rest }) => {
    const { status, body } = await rest('POST', '/users', {
      id: 'user_x',
      createdAt: null,
      shoeSize: 44,
      tenantId: 'other',
    })
    expect(status).toBe(400)
    expect(body).toEqual({
      requestId: expect.any(String),
      ...invalidFields(
        ['id', 'is not a field of this request'],
        ['createdAt', 'is not a field of this request'],
        ['shoeSize', 'is not a field of this request'],
        ['tenantId', 'is not a field of this request'],
      ),
    })
  })

  test.for([null, [], 'text', 7, true])(
    'rejects a body that is not an object: %j',
    async (value, { rest }) => {
      expect(toOutcome(await rest('POST', '/users', value))).toEqual(invalidFields(['', 'must be an object']))
    },
  )
})
