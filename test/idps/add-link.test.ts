import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { lockUser } from '../../src/users/users.ts'
import { linkIssue, TAKEN_IDENTITY, TAKEN_USER, test } from '../support/idp-links.ts'
import { SURFACES } from '../support/idps.ts'

describe.for(SURFACES)('add a link over %s', (surface) => {
  test('stores the identity without a request to the provider', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    readLinkEvents,
    findStored,
  }) => {
    const { add, get } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const link = await add(userId, idpId, { externalId: 'e-1', metadata: { tier: 'gold' } })
    expect(link).toEqual({
      status: 201,
      idpId,
      userId,
      externalId: 'e-1',
      metadata: { tier: 'gold' },
      lastLoginAt: null,
      disabledAt: null,
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    expect(await get(userId, idpId)).toEqual({ ...link, status: 200 })
    const [stored] = await findStored(userId)
    expect(stored).toMatchObject({ byManagement: true, issuer: upstream.issuer })
    expect(await readLinkEvents(userId)).toEqual([
      { type: 'idpuser.added', subjectIds: [stored?.id, idpId], changedFields: [] },
    ])
    expect(upstream.asked).toEqual([])
  })

  test('rejects an identity of another user and a second identity of the user with a conflict', async ({
    writers,
    newIdp,
    newUserId,
  }) => {
    const { add } = writers[surface]
    const [userId, other, idpId] = [await newUserId(), await newUserId(), await newIdp()]
    await add(userId, idpId, { externalId: 'one' })
    expect(await add(other, idpId, { externalId: 'one' })).toEqual(TAKEN_IDENTITY)
    expect(await add(userId, idpId, { externalId: 'two' })).toEqual(TAKEN_USER)
    expect(await add(userId, idpId, { externalId: 'one' })).toEqual(TAKEN_USER)
    // An identifier names another identity at another provider.
    expect(await add(other, await newIdp(), { externalId: 'one' })).toMatchObject({ status: 201 })
  })

  test('rejects an invalid externalId', async ({ writers, newIdp, newUserId }) => {
    const { add } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    expect(await add(userId, idpId, { externalId: '' })).toEqual(linkIssue('externalId', 'must not be empty'))
    expect(await add(userId, idpId, { externalId: 'x'.repeat(256) })).toMatchObject({ status: 400 })
    expect(await add(userId, idpId, { externalId: 'a\u0000b' })).toMatchObject({ status: 400 })
  })

  test('links a locked user', async ({ tenant, writers, newIdp, newUserId }) => {
    const { add } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    await lockUser(createPlatformCtx(tenant), userId)
    expect(await add(userId, idpId, { externalId: 'locked' })).toMatchObject({ status: 201 })
  })
})

describe.for(SURFACES)('unknown users and providers over %s', (surface) => {
  const malformed = surface === 'REST' ? 'NOT_FOUND' : 'BAD_USER_INPUT'
  test('are not found, and malformed ids are rejected', async ({ writers, upstream, newIdp, newUserId }) => {
    const { add, link, unlink, get } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const unknown = newId('user')
    const proof = { idToken: 'x' }
    expect(await add(unknown, idpId, { externalId: 'x' })).toMatchObject({ message: 'No such user.' })
    expect(await link(unknown, idpId, proof)).toMatchObject({ message: 'No such user.' })
    expect(await unlink(unknown, idpId)).toMatchObject({ message: 'No such user.' })
    expect(await add(userId, 'nothing', { externalId: 'x' })).toMatchObject({
      message: 'No such identity provider.',
    })
    expect(await link(userId, 'nothing', proof)).toMatchObject({ message: 'No such identity provider.' })
    expect(await unlink(userId, idpId)).toMatchObject({ message: 'No such link.' })
    expect(await get(userId, idpId)).toMatchObject({ status: 404 })
    expect(await add(newId('client'), idpId, { externalId: 'x' })).toMatchObject({ code: malformed })
    expect(await link(userId, newId('user'), proof)).toMatchObject({ code: malformed })
    expect(upstream.asked).toEqual([])
  })
})

describe.for(SURFACES)('a caller with fewer scopes than the user over %s', (surface) => {
  test('changes no link of the user and causes no request to the provider', async ({
    tenant,
    writers,
    upstream,
    newIdp,
    newUserId,
    claims,
    findStored,
  }) => {
    const { add, link, unlink } = writers[surface]
    const [userId, idpId] = [await newUserId(['support']), await newIdp()]
    const narrow = { scopes: ['idps:read', 'idps:write', 'users:read'] as const }
    await addIdpUser(createPlatformCtx(tenant), userId, idpId, { externalId: `own-${idpId}` })
    const second = await newIdp()
    const idToken = await upstream.sign(claims('eve'))
    upstream.asked.length = 0
    expect(await add(userId, second, { externalId: 'eve' }, narrow)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await link(userId, second, { idToken }, narrow)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await unlink(userId, idpId, narrow)).toMatchObject({ code: 'FORBIDDEN' })
    expect(upstream.asked).toEqual([])
    expect(await findStored(userId)).toHaveLength(1)
    expect(await unlink(userId, idpId)).toMatchObject({ status: 200 })
    expect(await add(await newUserId(), second, { externalId: 'anybody' }, narrow)).toMatchObject({
      status: 201,
    })
  })
})

describe.for(SURFACES)('unlink over %s', (surface) => {
  test('deletes the link, and another user can have the identity', async ({
    writers,
    newIdp,
    newUserId,
    readLinkEvents,
    findStored,
  }) => {
    const { add, unlink, get } = writers[surface]
    const [userId, other, idpId] = [await newUserId(), await newUserId(), await newIdp()]
    await add(userId, idpId, { externalId: 'moves' })
    const [stored] = await findStored(userId)
    expect(await unlink(userId, idpId)).toEqual({ status: 200, message: 'The link was removed.', fields: [] })
    expect(await get(userId, idpId)).toMatchObject({ status: 404 })
    expect(await unlink(userId, idpId)).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    expect((await readLinkEvents(userId)).at(-1)).toEqual({
      type: 'idpuser.unlinked',
      subjectIds: [stored?.id, idpId],
      changedFields: [],
    })
    expect(await add(other, idpId, { externalId: 'moves' })).toMatchObject({ status: 201 })
  })
})
