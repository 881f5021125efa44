import { createServer, type ServerResponse } from 'node:http'
import { invalidateClient } from '../../src/access/client-cache.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { Handle } from '../../src/database/handle.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newTenant } from './actors.ts'
import { dbFor } from './database.ts'
import { listenOnLoopback } from './loopback.ts'
import { test as base } from './openid-client.ts'
import { authorizePath, REDIRECT_URI } from './protocol.ts'

/** Answers a request for a document; `url` is the address of the document. */
export type Serve = (response: ServerResponse, url: string) => void

/**
 * Serves a client metadata document with its own client_id and REDIRECT_URI unless `metadata` says otherwise.
 */
export const serveJson =
  (metadata: object, headers: Record<string, string> = {}): Serve =>
  (response, url) =>
    response
      .writeHead(200, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ client_id: url, redirect_uris: [REDIRECT_URI], ...metadata }))

/** A host on this machine that clients publish their documents on. */
export async function startDocumentHost() {
  const served = new Map<string, Serve>()
  const requested: string[] = []
  const host = createServer((request, response) => {
    const path = request.url ?? '/'
    requested.push(path)
    const serve = served.get(path)
    if (serve) serve(response, `${origin}${path}`)
    else response.writeHead(404).end()
  })
  const origin = `http://127.0.0.1:${await listenOnLoopback(host)}`
  let published = 0
  return {
    origin,
    /** The paths that were requested, in order. */
    paths: (): string[] => requested,
    countRequests: (clientId: string): number =>
      requested.filter((path) => origin + path === clientId).length,
    /** Publishes a document under a new path; returns its URL, the client_id. */
    publish: (serve: Serve, name = 'client'): string => {
      published += 1
      const path = `/${name}-${published}.json`
      served.set(path, serve)
      return origin + path
    },
    republish: (clientId: string, serve: Serve) => served.set(new URL(clientId).pathname, serve),
    close: () => {
      host.closeAllConnections()
      host.close()
    },
  }
}

/** Makes a tenant that accepts clients by metadata documents. */
export async function newOpenTenant(): Promise<string> {
  const slug = await newTenant()
  await updateSettings(createPlatformCtx(slug), { clientIdMetadataDocuments: true })
  return slug
}

/** `test` with a tenant that accepts clients by metadata documents, and a host of documents. */
export const test = base
  .extend('tenant', { scope: 'file' }, async ({ app: _app }) => newOpenTenant())
  .extend('documents', { scope: 'file' }, async ({ app: _app }, { onCleanup }) => {
    const documents = await startDocumentHost()
    onCleanup(documents.close)
    return documents
  })
  /** Sends an authorization request of a client. */
  .extend(
    'authorize',
    { scope: 'file' },
    ({ app, tenant }) =>
      (clientId: string, more: Record<string, string> = {}, of = tenant) =>
        app.fetch(authorizePath(of, { id: clientId }, more)),
  )
  /** Whether the authorization endpoint accepts a request of the client. */
  .extend(
    'isAccepted',
    { scope: 'file' },
    ({ tenant, authorize }) =>
      async (clientId: string, of = tenant) =>
        (await authorize(clientId, {}, of)).status === 303,
  )
  .extend(
    'findClientRow',
    { scope: 'file' },
    ({ tenant }) =>
      (clientId: string) =>
        dbFor(tenant).client.findUnique({ where: { tenantId_id: { tenantId: tenant, id: clientId } } }),
  )
  /** Makes the document expire so many seconds ago. */
  .extend('age', { scope: 'file' }, ({ tenant }) => async (clientId: string, secondsPastFresh: number) => {
    await dbFor(tenant).client.update({
      where: { tenantId_id: { tenantId: tenant, id: clientId } },
      data: { documentFreshUntil: new Date(Date.now() - secondsPastFresh * 1000) },
    })
    invalidateClient(new Handle({ tenant }), clientId)
  })
  /** The reason that the newest event records. */
  .extend(
    'readReason',
    { scope: 'file' },
    ({ events }) =>
      async () =>
        (await events()).at(-1)?.detail?.reason,
  )
