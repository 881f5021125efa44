import { test as base } from './fixtures.ts'
import { type ServerProcess, startServer } from './process.ts'
import { makeAssertion, makeKey, makeProof } from './proofs.ts'

/** `test` with two processes of the program and a machine client that authenticates by assertions. */
export const test = base
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
