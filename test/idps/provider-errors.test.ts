import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { updateIdentityProvider } from '../../src/idps/idps.ts'
import { sql } from '../support/database.ts'
import { test } from '../support/idp-links.ts'
import type { Json } from '../support/json.ts'
import { startUpstream } from '../support/upstream.ts'

const UNAVAILABLE = {
  status: 503,
  code: 'UNAVAILABLE',
  message: 'The identity provider did not respond, or its response is invalid; try again.',
  fields: [],
}
const answering = (status: number, body: string) => (_request: unknown, response: Json) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  return true
}

describe('a provider with errors', () => {
  test('is reported as unavailable when it does not answer, fails, is overloaded or answers invalid data', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    findStored,
  }) => {
    const { accessToken } = await upstream.tokensFor('dan')
    const attempt = async (fields: object = {}, proof: object = { accessToken }) => {
      const userId = await newUserId()
      const answer = await writers.REST.link(userId, await newIdp(fields), proof)
      expect(await findStored(userId)).toEqual([])
      return answer
    }
    expect(await attempt({ userInfoEndpoint: 'http://127.0.0.1:9/' })).toEqual(UNAVAILABLE)
    for (const [status, body] of [
      [500, 'oops'],
      [503, '{}'],
      [429, '{}'],
      [200, 'no json'],
      [200, '[]'],
      [200, '{}'],
      [200, '{"sub":""}'],
      [200, '{"sub":7.5}'],
      [302, ''],
    ] as const) {
      upstream.before.set('/me', answering(status, body))
      const answer = await attempt()
      expect([status, body, answer]).toEqual([status, body, UNAVAILABLE])
    }
    upstream.before.set('/token', answering(502, ''))
    const proof = await upstream.codeFor('dan')
    const answer = await attempt({}, proof)
    expect(answer).toEqual(UNAVAILABLE)
    for (const secret of [proof.code, upstream.client.clientSecret])
      expect(JSON.stringify(answer)).not.toContain(secret)
  })

  test('is reported as unavailable for invalid metadata or keys, which are not cached', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    claims,
  }) => {
    const other = await startUpstream()
    try {
      const of = { issuer: other.issuer }
      const [userId, idpId] = [await newUserId(), await newIdp(of)]
      const idToken = await other.sign({ ...claims('dan'), iss: other.issuer })
      const metadata = '/.well-known/openid-configuration'
      for (const body of [
        '{}',
        JSON.stringify({ issuer: upstream.issuer, jwks_uri: `${other.issuer}/jwks` }),
      ]) {
        other.before.set(metadata, answering(200, body))
        expect(await writers.REST.link(userId, idpId, { idToken })).toEqual(UNAVAILABLE)
      }
      other.before.set(metadata, answering(404, '{}'))
      expect(await writers.REST.link(userId, idpId, { idToken })).toEqual(UNAVAILABLE)
      other.before.delete(metadata)
      for (const [status, body] of [
        [500, ''],
        [404, ''],
        [200, 'x'],
        [200, '{}'],
      ] as const) {
        other.before.set('/jwks', answering(status, body))
        expect([body, await writers.REST.link(userId, idpId, { idToken })]).toEqual([body, UNAVAILABLE])
      }
      other.before.delete('/jwks')
      expect(await writers.REST.link(userId, idpId, { idToken })).toMatchObject({
        status: 200,
        externalId: 'dan',
      })
    } finally {
      other.close()
    }
  })

  test('links no user when it is deleted or changed during the request', async ({
    tenant,
    rest,
    writers,
    upstream,
    newIdp,
    newUserId,
    findStored,
  }) => {
    const { accessToken } = await upstream.tokensFor('dan')
    const gone = await newIdp()
    const userId = await newUserId()
    upstream.before.set('/me', async () => {
      await rest('DELETE', `/idps/${gone}`)
      return false
    })
    expect(await writers.REST.link(userId, gone, { accessToken })).toMatchObject({
      status: 404,
      message: 'No such identity provider.',
    })
    const moved = await newIdp()
    upstream.before.set('/me', async () => {
      await updateIdentityProvider(createPlatformCtx(tenant), moved, { clientId: 'another' })
      return false
    })
    expect(await writers.REST.link(userId, moved, { accessToken })).toMatchObject({
      status: 503,
      message: 'The identity provider has changed; try again.',
    })
    expect(await findStored(userId)).toEqual([])
  })

  test('links no user who is given a role or is deleted during the request', async ({
    tenant,
    rest,
    writers,
    upstream,
    newIdp,
    newUserId,
  }) => {
    const { accessToken } = await upstream.tokensFor('dan')
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const narrow = { scopes: ['idps:write'] as const }
    upstream.before.set('/me', async () => {
      await sql(`UPDATE "User" SET "roles" = '{admin}' WHERE "tenantId" = $1 AND "id" = $2`, [tenant, userId])
      return false
    })
    expect(await writers.REST.link(userId, idpId, { accessToken }, narrow)).toMatchObject({ status: 403 })
    upstream.before.set('/me', async () => {
      await rest('DELETE', `/users/${userId}`)
      return false
    })
    expect(await writers.REST.link(userId, idpId, { accessToken })).toMatchObject({
      status: 404,
      message: 'No such user.',
    })
  })
})
