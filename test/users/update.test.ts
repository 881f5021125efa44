import { describe, expect } from 'vitest'
import { sql } from '../support/database.ts'
import { toTypes } from '../support/events.ts'
import { invalidFields } from '../support/issues.ts'
import { SURFACES, test } from '../support/user-writers.ts'

describe.each(SURFACES)('changes of a user over %s', (surface) => {
  test('leaves omitted fields unchanged, and unsets a field by an empty string and by null', async ({
    events,
    writers,
  }) => {
    const { user } = await writers[surface].create({
      name: 'N',
      nickname: 'n',
      gender: 'g',
      userMetadata: { a: 1, b: 2 },
      appMetadata: { c: 3 },
    })
    const changed = await writers[surface].update(user.id, {
      name: '',
      nickname: null,
      userMetadata: { b: 3 },
    })
    expect(changed).toMatchObject({
      user: {
        id: user.id,
        name: null,
        nickname: null,
        gender: 'g',
        userMetadata: { b: 3 },
        appMetadata: { c: 3 },
        createdAt: user.createdAt,
      },
    })
    expect(Date.parse(changed.user.updatedAt)).toBeGreaterThan(Date.parse(user.updatedAt))
    expect(await events({ userId: user.id })).toMatchObject([
      { type: 'user.created' },
      { type: 'user.updated', changedFields: ['name', 'nickname', 'userMetadata'] },
    ])
  })

  test('merges the address member by member', async ({ events, writers }) => {
    const { user } = await writers[surface].create({ address: { locality: 'Wien', country: 'AT' } })
    const merged = await writers[surface].update(user.id, { address: { country: '', postalCode: '1010' } })
    expect(merged).toMatchObject({
      user: { address: { locality: 'Wien', country: null, postalCode: '1010', region: null } },
    })
    expect(await writers[surface].update(user.id, { address: null })).toMatchObject({
      user: { address: null },
    })
    expect((await events({ userId: user.id })).map(({ changedFields }) => changedFields)).toEqual([
      [],
      ['address'],
      ['address'],
    ])
  })

  test('marks a new address as unverified unless the same call sets it as verified', async ({
    tenant,
    rest,
    writers,
  }) => {
    const at = `${tenant}.example`
    const { user } = await writers[surface].create({
      email: `flag@${at}`,
      emailVerified: true,
      phoneNumber: '+14155552671',
      phoneNumberVerified: true,
    })
    expect(user).toMatchObject({ emailVerified: true, phoneNumberVerified: true })
    // Another spelling of the address is not a new address.
    expect(
      await writers[surface].update(user.id, { email: `FLAG@${at}`, phoneNumber: 'tel:+1-415-555-2671' }),
    ).toMatchObject({
      user: { emailVerified: true, phoneNumberVerified: true },
    })
    expect(
      await writers[surface].update(user.id, { email: `flag2@${at}`, phoneNumber: '+14155552672' }),
    ).toMatchObject({
      user: { emailVerified: false, phoneNumberVerified: false },
    })
    expect(
      await writers[surface].update(user.id, { email: `flag3@${at}`, emailVerified: true }),
    ).toMatchObject({
      user: { emailVerified: true },
    })
    expect(await writers[surface].update(user.id, { email: '' })).toMatchObject({
      user: { email: null, emailVerified: false },
    })
    expect(await writers[surface].update(user.id, { emailVerified: true })).toEqual(
      invalidFields(['emailVerified', 'cannot be true without email']),
    )
    // A number that an earlier version stored as it was given, and which may be sent back.
    await sql(
      `UPDATE "User" SET "phoneNumber" = '12', "phoneNumberKey" = 'unparsed:12' WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, user.id],
    )
    expect(await writers[surface].update(user.id, { name: 'Ada', phoneNumber: '12' })).toMatchObject({
      user: { phoneNumber: '12' },
    })
    expect(await writers[surface].update(user.id, { phoneNumberVerified: true })).toEqual(
      invalidFields(['phoneNumberVerified', 'cannot be true unless phoneNumber has a country code (E.164)']),
    )
    await rest('DELETE', `/users/${user.id}`)
  })

  test('neither moves updatedAt nor records an event when nothing changes', async ({ events, writers }) => {
    const { user } = await writers[surface].create({
      name: 'Same',
      address: { country: 'AT' },
      userMetadata: { a: [1] },
    })
    expect(
      await writers[surface].update(user.id, {
        name: 'Same',
        address: { country: 'AT' },
        userMetadata: { a: [1] },
        locked: false,
      }),
    ).toEqual({ user })
    expect(await writers[surface].update(user.id, {})).toEqual({ user })
    expect(toTypes(await events({ userId: user.id }))).toEqual(['user.created'])
  })

  test('locks and unlocks the user by the field locked', async ({ events, writers }) => {
    const { user } = await writers[surface].create({})
    const locked = await writers[surface].update(user.id, { locked: true, name: 'Locked' })
    expect(locked.user).toMatchObject({ locked: true, lockedAt: locked.user.updatedAt })
    // Locking again changes nothing.
    expect(await writers[surface].update(user.id, { locked: true })).toEqual(locked)
    expect(await writers[surface].update(user.id, { locked: false })).toMatchObject({
      user: { locked: false, lockedAt: null },
    })
    expect(await events({ userId: user.id })).toMatchObject([
      { type: 'user.created' },
      { type: 'user.updated', changedFields: ['name'] },
      { type: 'user.locked', changedFields: [] },
      { type: 'user.unlocked' },
    ])
  })
})

describe('PATCH /users/{id}', () => {
  test('accepts response-only fields with their current values, so that a response can be sent back', async ({
    rest,
    create,
  }) => {
    const user = await create('/users', { name: 'Round trip', locked: true })
    const { status, body } = await rest('PATCH', `/users/${user.id}`, { ...user, name: 'Changed' })
    expect(status).toBe(200)
    expect(body).toEqual({ ...user, name: 'Changed', updatedAt: expect.any(String) })
  })

  test('rejects response-only fields with another value, and unknown fields, by name', async ({
    rest,
    create,
  }) => {
    const user = await create('/users')
    const { body } = await rest('PATCH', `/users/${user.id}`, {
      ...user,
      name: 'X',
      id: 'user_x',
      updatedAt: '2020-01-01T00:00:00.000Z',
      lockedAt: 5,
    })
    const set = 'is set by the service'
    expect(body).toEqual({
      requestId: expect.any(String),
      ...invalidFields(['id', set], ['lockedAt', set], ['updatedAt', set]),
    })
    const unknown = await rest('PATCH', `/users/${user.id}`, { roles: ['admin'] })
    expect(unknown.body).toMatchObject(invalidFields(['roles', 'is not a field of this request']))
    expect((await rest('GET', `/users/${user.id}`)).body).toEqual(user)
  })

  test('changes nothing when one field is rejected', async ({ tenant, rest, create, events }) => {
    const taken = await create('/users', { email: `taken@${tenant}.example` })
    const user = await create('/users', { name: 'Before' })
    const { status } = await rest('PATCH', `/users/${user.id}`, {
      name: 'After',
      locked: true,
      email: taken.email,
    })
    expect(status).toBe(409)
    expect((await rest('GET', `/users/${user.id}`)).body).toEqual(user)
    expect(toTypes(await events({ userId: user.id }))).toEqual(['user.created'])
  })
})
