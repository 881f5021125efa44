import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createPlatformCtx } from '../../src/context/context.ts'
import { linkIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { test as base, nowInSeconds } from './idp-links.ts'
import { newIdpId } from './idps.ts'
import type { Json } from './json.ts'
import { listenOnLoopback } from './loopback.ts'

type Received = { path: string; authorization: string | null; form: Record<string, string> }
export const toIssue = (field: string, description: string) => ({
  code: 'BAD_USER_INPUT',
  fields: [{ field, description }],
})
export const toClaims = (more: object) => ({
  aud: 'our app',
  sub: 'ada',
  iat: nowInSeconds(),
  exp: nowInSeconds() + 300,
  ...more,
})

/** With a stub of providers, identity providers that lead to it, and proofs of identities. */
export const test = base
  .extend('stubServer', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const stub = {
      origin: '',
      asked: [] as Received[],
      answers: {} as Record<string, object>,
      /** Answers that are not JSON, or are to be sent as they are written. */
      texts: {} as Record<string, string>,
    }
    const server = createServer(async (request, response) => {
      const path = request.url ?? ''
      stub.asked.push({
        path,
        authorization: request.headers.authorization ?? null,
        form: Object.fromEntries(new URLSearchParams(await text(request))),
      })
      const answer = stub.texts[path] ?? JSON.stringify(stub.answers[path] ?? {})
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    })
    stub.origin = `http://127.0.0.1:${await listenOnLoopback(server)}`
    onCleanup(() => {
      server.closeAllConnections()
      server.close()
    })
    return stub
  })
  .extend('stub', ({ stubServer }) => {
    stubServer.answers = {}
    stubServer.texts = {}
    stubServer.asked.length = 0
    return stubServer
  })
  .extend('configure', { scope: 'file' }, ({ tenant }) => async (fields: object): Promise<string> => {
    const idp = { id: newIdpId(), name: 'x', clientId: 'our app', ...fields }
    return (await createIdentityProvider(createPlatformCtx(tenant), idp)).id
  })
  .extend(
    'prove',
    { scope: 'file' },
    ({ tenant, newUserId }) =>
      async (idpId: string, proof: object, userId?: string) => {
        const user = userId ?? (await newUserId())
        const link = await linkIdpUser(createPlatformCtx(tenant), user, idpId, proof).catch(
          (error: Json) => error,
        )
        return link instanceof Error
          ? { fields: (link as Json).fields, code: (link as Json).code }
          : { issuer: link.issuer, externalId: link.externalId, metadata: link.metadata }
      },
  )
