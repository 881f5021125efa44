import { describe, expect } from 'vitest'
import { decide, pollWith, startDevice } from '../support/device-flow.ts'
import { test as base } from '../support/fixtures.ts'
import { type ServerProcess, startServer } from '../support/process.ts'
import { makeAssertion, makeKey, makeProof } from '../support/proofs.ts'

/** `test` with two processes of the program and a machine client that authenticates by assertions. */
const test = base
  .extend('issuer', { scope: 'file' }, ({ tenant }) => `http://localhost:3000/${tenant}`)
  .extend('key', { scope: 'file' }, () => makeKey())
  .extend('machine', { scope: 'file' }, ({ newClient, key }) =>
    newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'], jwks: { keys: [key.jwk] } }),
  )
  .extend('clientId', { scope: 'file' }, ({ machine }) => machine.id)
  .extend('servers', { scope: 'file' }, async ({ app: _app }, { onCleanup }) => {
    const { BASE_URL, DATABASE_URL, REDIS_URL, REDIS_PREFIX, ENCRYPTION_KEY } = process.env
    const env = { BASE_URL, DATABASE_URL, REDIS_URL, REDIS_PREFIX, ENCRYPTION_KEY }
    const servers: [ServerProcess, ServerProcess] = await Promise.all([startServer(env), startServer(env)])
    onCleanup(async () => {
      await Promise.all(servers.map((server) => server.stop()))
    })
    return servers
  })
  .extend(
    'assertion',
    { scope: 'file' },
    ({ issuer, key, clientId }) =>
      () =>
        makeAssertion(key, { clientId, audience: issuer }),
  )
  .extend(
    'ask',
    { scope: 'file' },
    ({ tenant }) =>
      async (server: ServerProcess, clientAssertion: string, proof: string | null = null) => {
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
      },
  )
  .extend(
    'prove',
    { scope: 'file' },
    ({ issuer, key }) =>
      (nonce?: string) =>
        makeProof(key, { method: 'POST', url: `${issuer}/oidc/token`, nonce }),
  )

describe('two processes on one database', { timeout: 90_000 }, () => {
  test('accept a client assertion once, also when both receive it at the same time', async ({
    servers,
    assertion,
    ask,
  }) => {
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

  test('accept a DPoP proof once and the nonces of each other (RFC 9449, sections 8 and 11.1)', async ({
    servers,
    assertion,
    ask,
    prove,
  }) => {
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

  test('reject a bound token of the other process without a proof (RFC 9449, section 7)', async ({
    tenant,
    issuer,
    key,
    servers,
    assertion,
    ask,
    prove,
  }) => {
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

  test('answer the polls of a device whose user is at the other process', async ({
    app,
    tenant,
    newClient,
    newPerson,
    newBrowser,
    oidc,
    servers,
  }) => {
    const { browser, user } = { browser: newBrowser(), user: await newPerson() }
    await oidc.signIn(browser, user.email)
    const tv = await newClient({ appType: 'native', callbacks: [] })
    const [, second] = servers
    const { body } = await startDevice(second as never, tenant, tv)
    const code = body.device_code as string
    expect((await pollWith(second, tenant, tv, code)).body.error).toBe('authorization_pending')
    // Both count the polls.
    expect((await pollWith(app, tenant, tv, code)).body.error).toBe('slow_down')
    await decide(browser, tenant, body.user_code as string, 'allow')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => pollWith(n % 2 ? second : app, tenant, tv, code)),
    )
    const issued = answers.filter(({ status }) => status === 200)
    expect(issued).toHaveLength(1)
    const info = await fetch(`${second.origin}/${tenant}/oidc/userinfo`, {
      headers: { authorization: `Bearer ${issued[0]?.body.access_token}` },
    })
    expect(await info.json()).toMatchObject({ sub: user.id })
  })
})
