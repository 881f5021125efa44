import { createPublicKey } from 'node:crypto'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { countIdpUsers, getIdpUser } from '../../src/idps/idp-users.ts'
import { createUser } from '../../src/users/users.ts'
import { linkIssue, TAKEN_IDENTITY, TAKEN_USER, test } from '../support/idp-links.ts'
import { SURFACES } from '../support/idps.ts'
import type { Json } from '../support/json.ts'

describe.for(SURFACES)('link by an ID token over %s', (surface) => {
  test('verifies it with the published keys and stores its claims as metadata', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    readLinkEvents,
    findStored,
  }) => {
    const suffix = newId('user')
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const { idToken } = await upstream.tokensFor(`ada-${suffix}`, { nonce: 'the relying party compared it' })
    const linked = await link(userId, idpId, { idToken })
    expect(linked).toEqual({
      status: 200,
      idpId,
      userId,
      externalId: `ada-${suffix}`,
      metadata: {
        sub: `ada-${suffix}`,
        name: `Person ada-${suffix}`,
        email: `ada-${suffix}@upstream.example`,
        email_verified: false,
      },
      lastLoginAt: expect.any(String),
      disabledAt: null,
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    const [stored] = await findStored(userId)
    expect(stored).toMatchObject({ issuer: upstream.issuer, byManagement: true })
    expect(await readLinkEvents(userId)).toEqual([
      { type: 'idpuser.linked', subjectIds: [stored?.id, idpId], changedFields: [] },
    ])
  })

  test('verifies it with idTokenSigningKey without a request to the provider', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    claims,
  }) => {
    const { link } = writers[surface]
    const key = upstream.publicJwks.find(({ alg }) => alg === 'ES256')
    const pem = String(
      createPublicKey({ key: key as Json, format: 'jwk' }).export({ format: 'pem', type: 'spki' }),
    )
    const [userId, idpId] = [await newUserId(), await newIdp({ idTokenSigningKey: pem })]
    expect(await link(userId, idpId, { idToken: await upstream.sign(claims(`pin-${idpId}`)) })).toMatchObject(
      {
        status: 200,
      },
    )
    const rsa = await upstream.sign(claims('x'), { alg: 'RS256' })
    expect(await link(userId, idpId, { idToken: rsa })).toEqual(
      linkIssue('idToken', 'is not signed by the provider'),
    )
    expect(upstream.asked).toEqual([])
  })

  test('updates lastLoginAt of an existing link, and updatedAt only when its metadata changes', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    claims,
    readLinkEvents,
    findStored,
  }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const as = async (more: object = {}) =>
      link(userId, idpId, { idToken: await upstream.sign(claims(`again-${idpId}`, more)) })
    const first = await as({ name: 'Ada' })
    const second = await as({ name: 'Ada' })
    expect(second).toEqual({ ...first, lastLoginAt: expect.any(String) })
    expect(Date.parse(second.lastLoginAt)).toBeGreaterThanOrEqual(Date.parse(first.lastLoginAt))
    const third = await as({ name: 'Ada King' })
    expect(third.metadata).toEqual({ sub: `again-${idpId}`, name: 'Ada King' })
    expect(Date.parse(third.updatedAt)).toBeGreaterThan(Date.parse(first.updatedAt))
    expect(await readLinkEvents(userId)).toMatchObject([
      { type: 'idpuser.linked' },
      { type: 'idpuser.updated', changedFields: ['metadata'] },
    ])
    expect(await findStored(userId)).toHaveLength(1)
  })

  test('rejects an identity of another user and a second identity of the user, and changes nothing', async ({
    tenant,
    writers,
    upstream,
    newIdp,
    newUserId,
    claims,
    findStored,
  }) => {
    const { link } = writers[surface]
    const [userId, other, idpId] = [await newUserId(), await newUserId(), await newIdp()]
    const idToken = await upstream.sign(claims(`one-${idpId}`))
    await link(userId, idpId, { idToken })
    expect(await link(other, idpId, { idToken })).toEqual(TAKEN_IDENTITY)
    expect(await link(userId, idpId, { idToken: await upstream.sign(claims(`two-${idpId}`)) })).toEqual(
      TAKEN_USER,
    )
    expect(await findStored(other)).toEqual([])
    expect(await getIdpUser(createPlatformCtx(tenant), userId, idpId)).toMatchObject({
      externalId: `one-${idpId}`,
    })
  })

  test('verifies a link that a client added', async ({
    tenant,
    writers,
    upstream,
    newIdp,
    newUserId,
    claims,
    findStored,
  }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const added = await addIdpUser(createPlatformCtx(tenant), userId, idpId, { externalId: `add-${idpId}` })
    const linked = await link(userId, idpId, { idToken: await upstream.sign(claims(`add-${idpId}`)) })
    expect(linked).toMatchObject({ status: 200, lastLoginAt: expect.any(String) })
    expect(await findStored(userId)).toMatchObject([{ id: added.id, byManagement: true }])
  })

  test('links no user by an email address, verified or not', async ({
    tenant,
    rest,
    writers,
    upstream,
    newIdp,
    newUserId,
    claims,
  }) => {
    const suffix = newId('user')
    const { link } = writers[surface]
    const victim = await createUser(createPlatformCtx(tenant), {
      email: `victim-${suffix}@example.com`,
      emailVerified: true,
    })
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const idToken = await upstream.sign(
      claims(`attacker-${idpId}`, { email: victim.email, email_verified: true }),
    )
    expect(await link(userId, idpId, { idToken })).toMatchObject({ userId, externalId: `attacker-${idpId}` })
    expect(await countIdpUsers(createPlatformCtx(tenant), victim.id)).toBe(0)
    expect((await rest('GET', `/users/${userId}`)).body).toMatchObject({
      email: null,
      emailVerified: false,
    })
  })
})
