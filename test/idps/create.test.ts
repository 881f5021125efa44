import { generateKeyPairSync } from 'node:crypto'
import { UnsecuredJWT } from 'jose'
import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { IDP_FIELDS } from '../../src/idps/idps.fields.ts'
import { addStandards } from '../../src/schema/fields.ts'
import {
  CERTIFICATE,
  FULL,
  idpIssues,
  newIdpId,
  PRIVATE_KEY,
  PUBLIC_KEY,
  pem,
  SURFACES,
  test,
} from '../support/idps.ts'
import type { Json } from '../support/json.ts'

const READY_SECRET = new UnsecuredJWT({ iss: 'TEAM' }).setExpirationTime('1h').encode()
const EXPIRED_SECRET = new UnsecuredJWT({ iss: 'TEAM' }).setExpirationTime(1).encode()

const { name: _, clientSecret: _secret, idTokenSigningKey: _key, ...EMPTY } = addStandards(IDP_FIELDS)

describe.for(SURFACES)('create an identity provider over %s', (surface) => {
  test('requires only id, type and name', async ({ tenant, writers, readIdpEvents }) => {
    const { create, get } = writers[surface]
    const id = newIdpId()
    const created = await create({ id, type: 'google', name: 'Google' })
    expect(created).toEqual({
      ...EMPTY,
      id,
      type: 'google',
      name: 'Google',
      callbackUrl: `${issuerOf(tenant)}/oidc/callback/${id}`,
      logoutCallbackUrl: `${issuerOf(tenant)}/oidc/logout/callback/${id}`,
      backchannelLogoutUrl: `${issuerOf(tenant)}/oidc/backchannel-logout/${id}`,
      signalsUrl: `${issuerOf(tenant)}/ssf/events/${id}`,
      hasSignalsSecret: false,
      missing: ['clientId'],
      hasClientSecret: false,
      hasIdTokenSigningKey: false,
      hasProvenDomains: false,
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    expect(await get(id)).toEqual(created)
    expect(await readIdpEvents(id)).toEqual([{ type: 'idp.created', changedFields: [], detail: null }])
  })

  test('stores every field and seals the secrets, which are never returned', async ({
    tenant,
    rest,
    writers,
    readIdpEvents,
    findStored,
  }) => {
    const { create, get } = writers[surface]
    const id = newIdpId()
    const created = await create({ id, ...FULL })
    const { clientSecret, idTokenSigningKey, ...shown } = FULL
    expect(created).toEqual({
      ...shown,
      id,
      callbackUrl: `${issuerOf(tenant)}/oidc/callback/${id}`,
      logoutCallbackUrl: `${issuerOf(tenant)}/oidc/logout/callback/${id}`,
      backchannelLogoutUrl: `${issuerOf(tenant)}/oidc/backchannel-logout/${id}`,
      signalsUrl: `${issuerOf(tenant)}/ssf/events/${id}`,
      hasSignalsSecret: false,
      missing: [],
      hasClientSecret: true,
      hasIdTokenSigningKey: true,
      hasProvenDomains: false,
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    const stored = JSON.stringify(await findStored(id))
    const shownAnywhere = JSON.stringify([
      created,
      await get(id),
      (await rest('GET', '/idps')).body,
      await readIdpEvents(id),
    ])
    for (const secret of [clientSecret, 'BEGIN PUBLIC KEY']) {
      expect(stored).not.toContain(secret)
      expect(shownAnywhere).not.toContain(secret)
    }
  })

  test.for<[type: string, fields: object]>([
    ['oauth2', { userInfoEndpoint: 'https://api.example.com/user' }],
    ['oidc', { issuer: 'https://login.example.com' }],
    ['apple', { clientSecret: PRIVATE_KEY, platformTeamId: 'T', platformKid: 'K' }],
    ['facebook', {}],
    ['google', {}],
    ['microsoft', {}],
    ['twitter', {}],
  ])('accepts type %s with the fields that it requires', async ([type, fields], { writers }) => {
    const { create } = writers[surface]
    const id = newIdpId()
    const created = await create({ id, type, name: type, clientId: 'app', ...fields })
    expect(created).toMatchObject({ id, type, missing: [] })
  })

  test.for<[type: string, fields: object, missing: string[]]>([
    ['oauth2', {}, ['clientId', 'userInfoEndpoint']],
    ['oidc', {}, ['clientId', 'issuer']],
    ['oidc', { clientId: 'app' }, ['issuer']],
    ['oauth2', { clientId: 'app' }, ['userInfoEndpoint']],
    ['apple', {}, ['clientId']],
    ['apple', { clientId: 'app' }, []],
    ['apple', { clientId: 'app', clientSecret: 'a secret' }, ['clientSecret']],
    ['apple', { clientId: 'app', clientSecret: READY_SECRET }, []],
    ['apple', { clientId: 'app', clientSecret: EXPIRED_SECRET }, ['clientSecret']],
    ['apple', { clientSecret: PRIVATE_KEY }, ['clientId', 'platformTeamId', 'platformKid']],
    ['apple', { clientId: 'app', clientSecret: PRIVATE_KEY, platformTeamId: 'T' }, ['platformKid']],
    ['facebook', {}, ['clientId']],
    ['google', {}, ['clientId']],
    ['microsoft', {}, ['clientId']],
    ['twitter', {}, ['clientId']],
  ])(
    'stores type %s with %j and reports what is missing: %j',
    async ([type, fields, missing], { writers }) => {
      const { create, get } = writers[surface]
      const id = newIdpId()
      const created = await create({ id, type, name: type, ...fields })
      expect(created).toMatchObject({ id, type, missing })
      expect(await get(id)).toEqual(created)
    },
  )

  test('checks the fields of an incomplete provider one by one', async ({ writers }) => {
    const { create } = writers[surface]
    const hmac = { name: 'x', idTokenSigningAlg: 'HS256' }
    expect(await create({ id: newIdpId(), type: 'oidc', ...hmac, clientSecret: 'x'.repeat(31) })).toEqual(
      idpIssues(['clientSecret', 'must have 32 bytes or more: with HS256, it is the key of ID tokens']),
    )
    expect(await create({ id: newIdpId(), type: 'oidc', ...hmac, idTokenSigningKey: PUBLIC_KEY })).toEqual(
      idpIssues(['idTokenSigningAlg', 'is not an algorithm of idTokenSigningKey']),
    )
    expect(await create({ id: newIdpId(), type: 'oidc', name: 'x', issuer: 'ftp://x' })).toMatchObject({
      fields: [{ field: 'issuer' }],
    })
  })

  test('rejects an id that exists with a conflict', async ({ writers }) => {
    const { create } = writers[surface]
    const id = newIdpId()
    await create({ id, type: 'google', name: 'First' })
    expect(await create({ id, type: 'google', name: 'Second' })).toEqual({
      code: 'CONFLICT',
      message: 'The value is taken.',
      fields: [{ field: 'id', description: 'is taken' }],
    })
  })

  test('rejects an id that Query.node could not distinguish, and the slug of the tenant', async ({
    tenant,
    writers,
  }) => {
    const { create } = writers[surface]
    for (const id of [
      newId('user'),
      newId('idpuser'),
      'user_x',
      'idpuser_',
      '',
      'a b',
      'a/b',
      '../x',
      '.',
      '-a',
      'a-',
      'é',
      'x'.repeat(65),
    ])
      expect([id, (await create({ id, type: 'google', name: 'x' })).fields?.[0]?.field]).toEqual([id, 'id'])
    expect(await create({ id: tenant, type: 'google', name: 'x' })).toEqual(
      idpIssues(['id', 'is the name of the tenant']),
    )
  })

  test('reports every invalid field at once', async ({ writers }) => {
    const { create } = writers[surface]
    const invalid = {
      id: 'a b',
      type: 'oidc',
      name: '',
      clientId: 'app',
      scopes: 'openid  email',
      authorizationEndpoint: 'javascript:alert(1)',
      idTokenSigningKey: 'x',
    }
    const { fields } = await create(invalid)
    expect(fields.map(({ field }: Json) => field).sort()).toEqual(
      ['authorizationEndpoint', 'id', 'idTokenSigningKey', 'name', 'scopes'].sort(),
    )
  })

  test.for(['none', 'None', 'HS512', 'RSA1_5', 'dir'])(
    'rejects %s as the algorithm of ID tokens',
    async (alg, { writers }) => {
      const { create } = writers[surface]
      expect(
        await create({ id: newIdpId(), type: 'google', name: 'x', idTokenSigningAlg: alg }),
      ).toMatchObject(
        // GraphQL has an enum, whose other values the document cannot have.
        surface === 'GraphQL'
          ? { message: expect.stringContaining('"IdTokenAlgorithm"') }
          : { fields: [{ field: 'idTokenSigningAlg' }] },
      )
    },
  )

  test('accepts a certificate or a public key that fits the algorithm, and no weak or private key', async ({
    writers,
  }) => {
    const { create } = writers[surface]
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
    const edwards = generateKeyPairSync('ed25519').publicKey
    const use = async (idTokenSigningKey: string, idTokenSigningAlg?: string) =>
      (
        await create({ id: newIdpId(), type: 'google', name: 'x', idTokenSigningKey, idTokenSigningAlg })
      ).fields?.map(({ field }: Json) => field)
    expect(await use(PUBLIC_KEY)).toBeUndefined()
    expect(await use(CERTIFICATE)).toBeUndefined()
    expect(await use(pem(edwards, 'spki'), 'EdDSA')).toBeUndefined()
    expect(await use(PRIVATE_KEY)).toEqual(['idTokenSigningKey'])
    expect(await use(pem(weak, 'spki'))).toEqual(['idTokenSigningKey'])
    expect(await use('-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----')).toEqual([
      'idTokenSigningKey',
    ])
    expect(await use(PUBLIC_KEY, 'RS256')).toEqual(['idTokenSigningAlg'])
  })
})
