import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import { newTenant } from '../support/actors.ts'
import { type ServerProcess, startServer } from '../support/process.ts'
import { type ClientKey, makeAssertion, makeKey, makeProof } from '../support/proofs.ts'
import { makeClient } from './provider.ts'

const BASE_URL = 'http://localhost:4000'

// The embedded database is one process's.
describe.runIf(inject('database').kind === 'postgres')('two processes on one database', () => {
  let servers: [ServerProcess, ServerProcess]
  let tenant: string
  let issuer: string
  let key: ClientKey
  let clientId: string

  beforeAll(async () => {
    await openRuntime()
    tenant = await newTenant()
    issuer = `${BASE_URL}/${tenant}`
    key = await makeKey()
    const fields = { appType: 'machine', callbacks: [], scopes: ['users:read'], jwks: { keys: [key.jwk] } }
    clientId = (await makeClient(tenant, fields)).id
    const { DATABASE_URL, REDIS_URL, ENCRYPTION_KEY } = process.env
    const env = { BASE_URL, DATABASE_URL, REDIS_URL, ENCRYPTION_KEY }
    servers = await Promise.all([startServer(env), startServer(env)])
  }, 90_000)
  afterAll(async () => {
    await Promise.all((servers ?? []).map((server) => server.stop()))
    await closeRuntime()
  })

  const assertion = () => makeAssertion(key, { clientId, audience: issuer })
  async function ask(server: ServerProcess, clientAssertion: string, proof: string | null = null) {
    const response = await fetch(`${server.origin}/${tenant}/oidc/token`, {
      method: 'POST',
      headers: proof === null ? {} : { dpop: proof },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: clientAssertion,
      }),
    })
    const body = (await response.json()) as Record<string, string>
    return { status: response.status, body, nonce: response.headers.get('dpop-nonce') ?? undefined }
  }
  const prove = (nonce?: string) => makeProof(key, { method: 'POST', url: `${issuer}/oidc/token`, nonce })

  test('security 35: an assertion that one took is refused by the other, also when both have it at once', async () => {
    const [one, other] = servers
    const used = await assertion()
    expect(await ask(one, used)).toMatchObject({ status: 200 })
    expect(await ask(other, used)).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    const raced = await assertion()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => ask(servers[index % 2] as ServerProcess, raced)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('RFC 9449, section 11.1: so it is with a proof; the nonce of one is good for the other', async () => {
    const [one, other] = servers
    const { body, nonce } = await ask(one, await assertion(), await prove())
    expect(body.error).toBe('use_dpop_nonce')
    const proof = await prove(nonce)
    expect(await ask(other, await assertion(), proof)).toMatchObject({ status: 200 })
    expect(await ask(one, await assertion(), proof)).toMatchObject({
      status: 400,
      body: { error: 'invalid_dpop_proof' },
    })
  })

  test('RFC 9449, section 7: a token that one bound is refused by the other without its key', async () => {
    const [one, other] = servers
    const { nonce } = await ask(one, await assertion(), await prove())
    const { body } = await ask(one, await assertion(), await prove(nonce))
    const token = body.access_token as string
    const url = `${issuer}/api/v1/users`
    const read = (headers: Record<string, string>) =>
      fetch(`${other.origin}/${tenant}/api/v1/users`, { headers })
    expect((await read({ authorization: `Bearer ${token}` })).status).toBe(401)
    const dpop = await makeProof(key, { method: 'GET', url, nonce, token })
    expect((await read({ authorization: `DPoP ${token}`, dpop })).status).toBe(200)
  })
})
