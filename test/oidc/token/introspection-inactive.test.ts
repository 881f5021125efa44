import { decodeJwt, SignJWT } from 'jose'
import { describe, expect } from 'vitest'
import { deleteClient, updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../../src/core/scopes.ts'
import { issueAccessToken } from '../../../src/oidc/token/access-tokens.ts'
import { newTenant } from '../../support/actors.ts'
import { listAlterations } from '../../support/attacks.ts'
import { dbFor } from '../../support/database.ts'
import { API, INACTIVE, test } from '../../support/introspection.ts'
import { answerIn, makeClient } from '../../support/protocol.ts'

describe('the introspection endpoint answers inactive', () => {
  test('for the tokens of another client, for another API or none', async ({
    userTokens,
    introspect,
    resourceServer,
    otherServer,
    machine,
  }) => {
    const { access, refresh } = await userTokens()
    for (const by of [otherServer, machine]) expect(await introspect(access, by)).toMatchObject(INACTIVE)
    // A resource server learns nothing about refresh tokens.
    for (const by of [resourceServer, otherServer, machine])
      expect(await introspect(refresh, by)).toMatchObject(INACTIVE)
    const { access: elsewhere } = await userTokens('openid', [])
    expect(await introspect(elsewhere, resourceServer)).toMatchObject(INACTIVE)
  })

  test('for a token for an API that the client no longer declares', async ({
    tenant,
    newClient,
    introspect,
    machineToken,
  }) => {
    const former = await newClient({ resources: ['https://former.example'] })
    const token = await machineToken({ resource: 'https://former.example' })
    expect((await introspect(token, former)).body.active).toBe(true)
    await updateClient(createPlatformCtx(tenant), former.id, { resources: [] })
    expect(await introspect(token, former)).toMatchObject(INACTIVE)
  })

  test('for the tokens of another tenant, at either tenant', async ({ client, userTokens, introspect }) => {
    const elsewhere = await newTenant()
    const there = await makeClient(elsewhere, { resources: [API] })
    const { access, refresh } = await userTokens()
    for (const token of [access, refresh]) {
      expect(await introspect(token, there, {}, elsewhere)).toMatchObject(INACTIVE)
      // A client of one tenant is unknown at the other.
      expect((await introspect(token, client, {}, elsewhere)).status).toBe(401)
      expect((await introspect(token, there)).status).toBe(401)
    }
  })

  test('for a token that tenant system issued for this tenant', async ({ introspect, resourceServer }) => {
    const operator = await makeClient(SYSTEM_TENANT, {
      appType: 'machine',
      callbacks: [],
      scopes: ['users:read'],
    })
    const token = await issueAccessToken(SYSTEM_TENANT, {
      subject: operator.id,
      clientId: operator.id,
      scopes: ['users:read'],
      audience: [API],
      lifetimeSeconds: 60,
    })
    expect(await introspect(token, resourceServer)).toMatchObject(INACTIVE)
    expect((await introspect(token, operator, {}, SYSTEM_TENANT)).body.active).toBe(true)
  })

  test('for ID tokens, codes and other text', async ({ client, oidc, visitor, introspect }) => {
    const path = oidc.authorizePath({ prompt: 'none' })
    const { code } = answerIn((await visitor.browser.fetch(path)).headers.get('location'))
    const { body } = await oidc.exchange(code as string)
    for (const text of [
      body.id_token as string,
      code as string,
      'x',
      '..',
      'e30.e30.e30',
      'ä\n',
      'a'.repeat(50_000),
    ])
      expect(await introspect(text, client)).toMatchObject(INACTIVE)
  })

  test('for JWTs that are unsigned or signed by another key', async ({ client, userTokens, introspect }) => {
    const { access } = await userTokens()
    const [, payload] = access.split('.')
    const unsigned = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${payload}.`
    const forged = await new SignJWT(decodeJwt(access))
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
      .sign(Buffer.alloc(32))
    for (const token of [unsigned, forged]) expect(await introspect(token, client)).toMatchObject(INACTIVE)
  })

  test('for altered tokens', async ({ client, userTokens, introspect }) => {
    const { access, refresh } = await userTokens()
    const signatureOf = (jwt: string) => Buffer.from(jwt.split('.')[2] ?? '', 'base64url').toString('hex')
    // Another text for the same signature is the same token.
    const forged = listAlterations(access).filter(
      ([, altered]) => signatureOf(altered) !== signatureOf(access),
    )
    expect(forged.length).toBeGreaterThan(5)
    for (const [name, altered] of [...forged, ...listAlterations(refresh)])
      expect([name, (await introspect(altered, client)).body]).toEqual([name, { active: false }])
  })

  test('for expired tokens', async ({ tenant, client, userTokens, introspect, machine }) => {
    const token = await issueAccessToken(tenant, {
      subject: machine.id,
      clientId: machine.id,
      scopes: [],
      audience: [API],
      lifetimeSeconds: -1,
    })
    expect(await introspect(token, machine)).toMatchObject(INACTIVE)
    const { refresh } = await userTokens()
    const id = { tenantId: tenant, id: refresh.split('.')[0] as string }
    for (const column of ['idleExpiresAt', 'expiresAt'] as const) {
      const before = await dbFor(tenant).grant.findUniqueOrThrow({ where: { tenantId_id: id } })
      await dbFor(tenant).grant.update({ where: { tenantId_id: id }, data: { [column]: new Date() } })
      expect(await introspect(refresh, client)).toMatchObject(INACTIVE)
      await dbFor(tenant).grant.update({ where: { tenantId_id: id }, data: { [column]: before[column] } })
    }
    expect((await introspect(refresh, client)).body.active).toBe(true)
  })

  test('for the tokens of a locked user, even while their grant is not revoked yet', async ({
    tenant,
    client,
    visitor,
    userTokens,
    introspect,
    resourceServer,
  }) => {
    const { access, refresh } = await userTokens()
    const id = { tenantId_id: { tenantId: tenant, id: visitor.user.id } }
    await dbFor(tenant).user.update({ where: id, data: { locked: true } })
    try {
      for (const [token, by] of [
        [access, client],
        [access, resourceServer],
        [refresh, client],
      ] as const)
        expect(await introspect(token, by)).toMatchObject(INACTIVE)
    } finally {
      await dbFor(tenant).user.update({ where: id, data: { locked: false } })
    }
  })

  test('for the token of a deleted machine client', async ({
    tenant,
    newClient,
    oidc,
    introspect,
    resourceServer,
  }) => {
    const gone = await newClient({ appType: 'machine', callbacks: [], scopes: [] })
    const { body } = await oidc.token(
      {
        grant_type: 'client_credentials',
        resource: API,
      },
      gone,
    )
    expect((await introspect(body.access_token as string, resourceServer)).body.active).toBe(true)
    await deleteClient(createPlatformCtx(tenant), gone.id)
    expect(await introspect(body.access_token as string, resourceServer)).toMatchObject(INACTIVE)
  })
})
