import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, vi } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createUser } from '../../src/users/users.ts'
import { dbFor } from '../support/database.ts'
import { FULL, idpIssues, newIdpId, SURFACES, test } from '../support/idps.ts'

// Other tests let the program connect to this machine; here it may not, as in production.
vi.hoisted(() => {
  process.env.FETCH_PRIVATE = '0'
})

describe.for(SURFACES)('an identity provider at a private address over %s', (surface) => {
  test.for([
    'http://169.254.169.254/latest/meta-data/',
    'http://127.0.0.1:8080/',
    'http://[::ffff:10.0.0.1]/',
    'https://10.0.0.1/',
  ])('is rejected for endpoint %s', async (url, { writers }) => {
    const { create } = writers[surface]
    expect(await create({ id: newIdpId(), type: 'google', name: 'x', jwksUri: url })).toEqual(
      idpIssues(['jwksUri', 'must be on a public address']),
    )
  })
})

describe('an identity provider whose name resolves to this machine', () => {
  test.for(['localhost', 'localhost.', 'a.localhost', 'LOCALHOST'])(
    'is rejected for host %s',
    async (name, { writers }) => {
      const issuer = `https://${name}:8443`
      const { create } = writers.REST
      expect(await create({ id: newIdpId(), type: 'oidc', name: 'x', issuer })).toEqual(
        idpIssues(['issuer', 'must be on a public address']),
      )
    },
  )

  test('is never connected to, for any kind of proof', async ({ tenant, rest, writers }) => {
    let seen = 0
    const server = createServer((_request, response) => {
      seen += 1
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`
    const id = newIdpId()
    const { create, update } = writers.REST
    const endpoints = {
      userInfoEndpoint: `${origin}/me`,
      tokenEndpoint: `${origin}/t`,
      jwksUri: `${origin}/j`,
    }
    const { clientSecret } = FULL
    await create({
      id,
      type: 'oidc',
      name: 'x',
      clientId: 'app',
      clientSecret,
      issuer: 'https://partner.example',
    })
    // The database skips the check of the input: other names may resolve to this machine, too.
    await dbFor(tenant).identityProvider.updateMany({
      where: { tenantId: tenant, id },
      data: { issuer: origin, ...endpoints },
    })
    const user = await createUser(createPlatformCtx(tenant), {})
    const jwt = `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.e30.AAAA`
    const unset = Object.fromEntries(Object.keys(endpoints).map((name) => [name, null]))
    for (const fields of [{}, unset]) {
      await update(id, fields)
      for (const proof of [{ idToken: jwt }, { accessToken: 'x' }, { code: 'x' }])
        expect((await rest('PUT', `/users/${user.id}/idps/${id}`, proof)).body).toMatchObject({
          code: 'UNAVAILABLE',
          fields: [],
        })
    }
    expect(seen).toBe(0)
    server.close()
  })
})
