import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { FULL, idpIssues, NOT_FOUND, newIdpId, SURFACES, test } from '../support/idps.ts'

describe.for(SURFACES)('update an identity provider over %s', (surface) => {
  test('changes the given fields only and records which', async ({ writers, readIdpEvents }) => {
    const { create, update, get } = writers[surface]
    const id = newIdpId()
    const created = await create({ id, ...FULL })
    const changed = await update(id, {
      name: 'Other',
      scopes: '',
      clientSecret: 'another',
      issuer: FULL.issuer,
    })
    expect(changed).toEqual({ ...created, name: 'Other', scopes: null, updatedAt: expect.any(String) })
    expect(Date.parse(changed.updatedAt)).toBeGreaterThan(Date.parse(created.updatedAt))
    expect(await get(id)).toEqual(changed)
    expect(await readIdpEvents(id)).toEqual([
      { type: 'idp.created', changedFields: [], detail: null },
      { type: 'idp.updated', changedFields: ['name', 'clientSecret', 'scopes'], detail: null },
    ])
  })

  test('deletes secrets with null or an empty string', async ({ writers, findStored }) => {
    const { create, update } = writers[surface]
    const id = newIdpId()
    await create({ id, ...FULL })
    expect(await update(id, { clientSecret: null, idTokenSigningKey: '' })).toMatchObject({
      hasClientSecret: false,
      hasIdTokenSigningKey: false,
    })
    expect(await findStored(id)).toMatchObject({ clientSecret: null, idTokenSigningKey: null })
  })

  test('stores the claims that are given, and nothing for null', async ({ writers, gql, findStored }) => {
    const { create, update } = writers[surface]
    const id = newIdpId()
    await create({ id, ...FULL })
    const claims = { name: null, nickname: 'login' }
    expect(await update(id, { claims })).toMatchObject({ claims: { nickname: 'login' } })
    expect(await findStored(id)).toHaveProperty('claims', { nickname: 'login' })
    const { body } = await gql(
      'query ($id: ID!) { identityProvider(id: $id) { claims { name nickname } } }',
      {
        id,
      },
    )
    expect(body.data.identityProvider).toEqual({ claims })
  })

  test('leaves updatedAt and the log unchanged for the same values, secrets included', async ({
    writers,
    readIdpEvents,
    findStored,
  }) => {
    const { create, update } = writers[surface]
    const id = newIdpId()
    const created = await create({ id, ...FULL })
    const sealed = await findStored(id)
    const { type: _, ...same } = FULL
    expect(await update(id, same)).toEqual(created)
    expect(await findStored(id)).toEqual(sealed)
    expect(await readIdpEvents(id)).toHaveLength(1)
  })

  test('rejects a change that leaves the provider invalid', async ({ writers }) => {
    const { create, update } = writers[surface]
    const id = newIdpId()
    await create({ id, ...FULL })
    expect(await update(id, { name: null })).toMatchObject({ fields: [{ field: 'name' }] })
    expect(await update(id, { idTokenSigningAlg: 'RS256' })).toMatchObject({
      fields: [{ field: 'idTokenSigningAlg' }],
    })
  })

  test('reports what is missing after a change', async ({ writers }) => {
    const { create, update } = writers[surface]
    const id = newIdpId()
    await create({ id, ...FULL })
    expect(await update(id, { issuer: null, clientId: '' })).toMatchObject({
      missing: ['clientId', 'issuer'],
    })
    const { issuer, clientSecret } = FULL
    expect(await update(id, { issuer, clientSecret })).toMatchObject({ missing: ['clientId'] })
    expect(await update(id, { clientId: 'app' })).toMatchObject({ missing: [] })
  })

  test('requires the client secret with another server, which would get the stored one', async ({
    writers,
  }) => {
    const { create, update, get } = writers[surface]
    const id = newIdpId()
    const { clientSecret } = FULL
    await create({ id, ...FULL })
    await update(id, { issuer: null })
    for (const fields of [
      { issuer: 'https://evil.example' },
      { tokenEndpoint: 'https://evil.example/token' },
    ]) {
      expect(await update(id, fields)).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'clientSecret' }],
      })
      expect(await get(id)).not.toMatchObject(fields)
      expect(await update(id, { ...fields, clientSecret })).toMatchObject(fields)
    }
    expect(await update(id, { tokenEndpoint: null, clientSecret: null })).toMatchObject({
      hasClientSecret: false,
    })
    expect(await update(id, { issuer: FULL.issuer })).toMatchObject({ issuer: FULL.issuer })
  })

  test('rejects expectedUpdatedAt of an older version', async ({ writers }) => {
    const { create, update, get } = writers[surface]
    const id = newIdpId()
    const { updatedAt } = await create({ id, ...FULL })
    expect(await update(id, { name: 'A', expectedUpdatedAt: updatedAt })).toMatchObject({ name: 'A' })
    expect(await update(id, { name: 'B', expectedUpdatedAt: updatedAt })).toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'expectedUpdatedAt' }],
    })
    expect(await get(id)).toMatchObject({ name: 'A' })
  })

  test('rejects an unknown id', async ({ writers }) => {
    const { update } = writers[surface]
    expect(await update('unknown', { name: 'x' })).toMatchObject(NOT_FOUND)
    const bad = await update('user_x', { name: 'x' })
    expect(bad.code).toBe(surface === 'REST' ? 'NOT_FOUND' : 'BAD_USER_INPUT')
  })

  test('rejects a change of what proofs depend on from a caller with fewer scopes than a linked user', async ({
    tenant,
    writers,
  }) => {
    const { create, update } = writers[surface]
    const id = newIdpId()
    await create({ id, ...FULL })
    const admin = await createUser(createPlatformCtx(tenant), {})
    await sql(`UPDATE "User" SET "roles" = '{support}' WHERE "tenantId" = $1 AND "id" = $2`, [
      tenant,
      admin.id,
    ])
    await addIdpUser(createPlatformCtx(tenant), admin.id, id, { externalId: 'admin' })
    const narrow = { scopes: ['idps:read', 'idps:write'] as const }
    for (const fields of [
      { issuer: 'https://evil.example' },
      { jwksUri: 'https://evil.example/jwks' },
      { idTokenSigningKey: null },
      { clientId: 'evil' },
    ])
      expect(await update(id, fields, narrow)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await update(id, { name: 'Renamed' }, narrow)).toMatchObject({ name: 'Renamed' })
    expect(await update(id, { clientId: 'fine' })).toMatchObject({ clientId: 'fine' })
  })
})

describe('fields of responses in PATCH /idps/{idpId}', () => {
  test('are accepted with their values', async ({ writers }) => {
    const { create, update } = writers.REST
    const id = newIdpId()
    const created = await create({ id, ...FULL })
    expect(await update(id, { ...created, name: 'Round trip' })).toMatchObject({ name: 'Round trip' })
  })
  test('are rejected with other values', async ({ writers }) => {
    const { create, update } = writers.REST
    const id = newIdpId()
    await create({ id, ...FULL })
    const wrong = {
      id: 'other',
      type: 'google',
      missing: ['issuer'],
      hasClientSecret: false,
      hasIdTokenSigningKey: false,
      updatedAt: '2020-01-01T00:00:00Z',
      createdAt: '2020-01-01T00:00:00Z',
    }
    expect(await update(id, wrong)).toEqual(
      idpIssues(
        ['id', 'cannot be changed'],
        ['type', 'cannot be changed'],
        ['missing', 'is set by the service'],
        ['hasClientSecret', 'is set by the service'],
        ['hasIdTokenSigningKey', 'is set by the service'],
        ['updatedAt', 'is set by the service'],
        ['createdAt', 'is set by the service'],
      ),
    )
    expect(await update(id, { tenantId: 'x', colour: 'red' })).toEqual(
      idpIssues(['tenantId', 'is not a field of this request'], ['colour', 'is not a field of this request']),
    )
  })
})
