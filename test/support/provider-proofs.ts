import { createServer } from 'node:http'
import type { JWTPayload } from 'jose'
import { test as base } from 'vitest'
import type { IdentityProvider } from '../../src/generated/prisma/client.ts'
import { proveIdentity } from '../../src/idps/external-identity.ts'
import { sealIdpSecrets } from '../../src/idps/secrets/idp-secrets.ts'
import { listenOnLoopback } from './loopback.ts'
import { createUpstreamKeys, startUpstream, type Upstream } from './upstream.ts'

export type Proof = { idToken?: string; accessToken?: string; code?: string }

/** Proves an identity at the upstream provider, without a database. */
export async function prove(upstream: Upstream, proof: Proof, fields: Partial<IdentityProvider> = {}) {
  const idp = {
    tenantId: 't',
    id: 'upstream',
    type: 'oidc',
    issuer: upstream.issuer,
    ...sealIdpSecrets('t', 'upstream', upstream.client),
    ...fields,
  } as IdentityProvider
  const empty = { idToken: null, accessToken: null, code: null, redirectUri: null, codeVerifier: null }
  return (await proveIdentity(idp, { ...empty, ...proof })).identity
}

/** Makes the provider answer a path with JSON. */
export const answerJson = (upstream: Upstream, path: string, status: number, body: object) =>
  upstream.before.set(path, (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    return true
  })

/** The claims of a valid ID token for client `vestibule`. */
export function claimsFor(upstream: Upstream, more: JWTPayload = {}): JWTPayload {
  const now = Math.floor(Date.now() / 1000)
  return { iss: upstream.issuer, aud: 'vestibule', sub: 'ada', iat: now, exp: now + 300, ...more }
}

export const rejection = (field: string, description: string) => ({
  status: 400,
  fields: [{ field, description }],
})

/** `test` with an upstream provider, and a server at 127.0.0.2. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires a pattern for the fixtures
  .extend('upstreamKeys', { scope: 'file' }, async ({}) => ({ made: createUpstreamKeys() }))
  .extend('upstreamServer', { scope: 'file' }, async ({ upstreamKeys }, { onCleanup }) => {
    const server = await startUpstream(upstreamKeys.made)
    onCleanup(server.close)
    return server
  })
  .extend('upstream', ({ upstreamServer }) => {
    upstreamServer.before.clear()
    return upstreamServer
  })
  /** A provider whose metadata and keys are not cached. */
  .extend('fresh', async ({ upstreamKeys }, { onCleanup }) => {
    const server = await startUpstream(upstreamKeys.made)
    onCleanup(server.close)
    return server
  })
  .extend('privateServer', async ({ task: _ }, { onCleanup }) => {
    const server = createServer((_request, response) => {
      privateServer.visits += 1
      response.end('{}')
    })
    onCleanup(() => void server.close())
    const port = await listenOnLoopback(server, '127.0.0.2')
    const privateServer = { url: `http://127.0.0.2:${port}/`, visits: 0 }
    return privateServer
  })
