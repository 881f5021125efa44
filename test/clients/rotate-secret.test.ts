import { describe, expect } from 'vitest'
import { findClient, isCurrentClientSecret } from '../../src/access/client-cache.ts'
import { updateClient } from '../../src/clients/client-changes.ts'
import { rotateClientSecret } from '../../src/clients/client-secrets.ts'
import { sha256 } from '../../src/core/crypto.ts'
import { newTenant } from '../support/actors.ts'
import type { CallOptions } from '../support/calls.ts'
import {
  CLIENT_FIELDS,
  NO_CLIENT,
  SHOP,
  SURFACES,
  test,
  UNKNOWN_CLIENT_ID,
} from '../support/client-writers.ts'
import { invalidFields } from '../support/issues.ts'

describe.each(SURFACES)('a rotation of a client secret over %s', (surface) => {
  test('returns a new secret, and keeps the previous one valid for a day', async ({
    writers,
    newShop,
    listSecrets,
    listChanges,
  }) => {
    const client = await newShop()
    const before = Date.now()
    const rotated = await writers[surface].rotate(client.id, {})
    expect(rotated).toMatchObject({ ...SHOP, id: client.id, type: 'login' })
    expect(Buffer.from(rotated.secret, 'base64url')).toHaveLength(32)
    const end = Date.parse(rotated.previousSecretExpiresAt)
    expect(end - before).toBeGreaterThanOrEqual(86_400_000)
    expect(end - Date.now()).toBeLessThanOrEqual(86_400_000)
    expect(Date.parse(rotated.updatedAt)).toBeGreaterThan(client.updatedAt.getTime())
    expect(await listSecrets(client.id)).toEqual([
      { hash: sha256(rotated.secret).toString('hex'), expiresAt: null },
      { hash: sha256(client.secret ?? '').toString('hex'), expiresAt: new Date(end) },
    ])
    expect(await listChanges(client.id)).toEqual([{ type: 'client.updated', changedFields: ['secret'] }])
  })

  test('keeps two secrets at most, and only the new one with an overlap of 0', async ({
    tenant,
    writers,
    newShop,
    listSecrets,
  }) => {
    const client = await newShop()
    const [first, second] = [
      client.secret ?? '',
      (await writers[surface].rotate(client.id, { overlapSeconds: 60 })).secret,
    ]
    const third = (await writers[surface].rotate(client.id, { overlapSeconds: 2_592_000 })).secret
    const areCurrent = async (...secrets: string[]) => {
      const found = await findClient(tenant, client.id)
      return secrets.map((secret) => found !== null && isCurrentClientSecret(found, secret))
    }
    expect(await areCurrent(first, second, third)).toEqual([false, true, true])
    const last = await writers[surface].rotate(client.id, { overlapSeconds: 0 })
    expect(last.previousSecretExpiresAt).toBeNull()
    expect(await areCurrent(first, second, third, last.secret)).toEqual([false, false, false, true])
    expect(await listSecrets(client.id)).toHaveLength(1)
  })

  test('rejects invalid overlaps and public clients', async ({ writers, newShop, listSecrets }) => {
    const client = await newShop()
    for (const overlapSeconds of [-1, 2_592_001])
      expect(await writers[surface].rotate(client.id, { overlapSeconds })).toEqual(
        invalidFields(['overlapSeconds', 'must be a whole number from 0 to 2592000']),
      )
    for (const appType of ['single-page', 'native'])
      expect(await writers[surface].rotate((await newShop({ appType })).id, {})).toEqual(
        invalidFields(['clientId', `is a ${appType} client, which cannot keep a secret`]),
      )
    expect(await listSecrets(client.id)).toHaveLength(1)
    if (surface === 'REST')
      expect(await writers[surface].rotate(client.id, { overlapSeconds: '60', secret: 'mine' })).toEqual(
        invalidFields(
          ['overlapSeconds', 'must be a whole number from 0 to 2592000'],
          ['secret', 'is not a field of this request'],
        ),
      )
  })

  test('rejects a caller without the scopes of the client, a client of another tenant and an unknown client', async ({
    writers,
    newShop,
  }) => {
    const as: CallOptions = { scopes: ['clients:write', 'clients:read'] }
    const client = await newShop()
    expect(await writers[surface].rotate(client.id, {}, as)).toMatchObject({
      code: 'FORBIDDEN',
      message: 'This needs scopes that the caller lacks: users:read.',
    })
    const foreign = await newShop({}, await newTenant())
    expect(await writers[surface].rotate(foreign.id, {})).toEqual(NO_CLIENT)
    expect(await writers[surface].rotate(UNKNOWN_CLIENT_ID, {})).toEqual(NO_CLIENT)
  })
})

describe('a rotation of a client secret', () => {
  test('accepts a request without a body, and rejects a body of another media type or invalid JSON', async ({
    app,
    tenant,
    token,
    newShop,
    listSecrets,
  }) => {
    const client = await newShop()
    const call = (init: RequestInit) =>
      app.fetch(`/${tenant}/api/v1/clients/${client.id}/secret`, {
        method: 'POST',
        ...init,
        headers: { authorization: `Bearer ${token}`, ...init.headers },
      })
    const answer = await call({})
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({ id: client.id, secret: expect.any(String) })
    expect((await call({ body: '{"overlapSeconds":0}' })).status).toBe(415)
    expect((await call({ body: '{', headers: { 'content-type': 'application/json' } })).status).toBe(400)
    expect(await listSecrets(client.id)).toHaveLength(2)
  })

  test('leaves one current and one expiring secret after ten concurrent rotations', async ({
    ctx,
    newShop,
    listSecrets,
    listChanges,
  }) => {
    const client = await newShop()
    const rotated = await Promise.all(
      Array.from({ length: 10 }, () => rotateClientSecret(ctx, client.id, {})),
    )
    const stored = await listSecrets(client.id)
    expect(stored.map(({ expiresAt }) => expiresAt !== null)).toEqual([false, true])
    const hashes = rotated.map(({ secret }) => sha256(secret).toString('hex'))
    expect(stored.every(({ hash }) => hashes.includes(hash))).toBe(true)
    expect(await listChanges(client.id)).toHaveLength(10)
  })

  test('leaves no secret when the client becomes public at the same time', async ({
    ctx,
    newShop,
    listSecrets,
  }) => {
    for (let round = 0; round < 5; round++) {
      const client = await newShop()
      const [rotated] = await Promise.allSettled([
        rotateClientSecret(ctx, client.id, {}),
        updateClient(ctx, client.id, { appType: 'single-page' }),
      ])
      expect(await listSecrets(client.id)).toEqual([])
      if (rotated.status === 'rejected') expect(rotated.reason).toMatchObject({ code: 'BAD_USER_INPUT' })
    }
  })

  test('returns the secret in its own response only', async ({ rest, gql, events, newShop }) => {
    const mine = await newTenant()
    const there = { tenant: mine }
    const client = await newShop({}, mine)
    const { body } = await rest('POST', `/clients/${client.id}/secret`, {}, there)
    await rest('PATCH', `/clients/${client.id}`, { appType: 'single-page' }, there)
    const hidden = [client.secret, body.secret].flatMap((secret) => [
      secret,
      sha256(secret).toString('hex'),
      sha256(secret).toString('base64url'),
    ])
    await events(there)
    const read = JSON.stringify([
      await rest('GET', `/clients/${client.id}`, undefined, there),
      await rest('GET', '/clients', undefined, there),
      await gql(`{ clients { nodes { ${CLIENT_FIELDS} } } }`, {}, there),
      await gql(
        '{ events(first: 100) { nodes { type: typeName ... on AuditEvent { detail subjectIds changedFields } } } }',
        {},
        there,
      ),
      await events(there),
    ])
    for (const text of hidden) expect(read).not.toContain(text)
  })

  test('returns the secret to a caller with clients:write only, without the client', async ({
    gql,
    newShop,
  }) => {
    const client = await newShop({ scopes: [] })
    const { body } = await gql(
      `mutation ($id: ID!) {
        rotated: rotateClientSecret(input: { clientId: $id }) { ... on RotateClientSecretPayload { secret client { id } } }
        created: createClient(input: { type: LOGIN, name: "x", appType: WEB }) { ... on CreateClientPayload { secret client { id } } }
      }`,
      { id: client.id },
      { scopes: ['clients:write'] },
    )
    expect(body.data).toEqual({
      rotated: { secret: expect.any(String), client: null },
      created: { secret: expect.any(String), client: null },
    })
  })
})
