import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { H3, toNodeHandler } from 'h3'
import { addAssetRoutes } from './assets.routes.ts'
import { answerCors } from './cors.ts'
import { addEnrolmentRoutes } from './credentials/enrolment.routes.ts'
import { addDemoClientRoutes } from './dev/demo-client.routes.ts'
import { addInboxRoutes } from './dev/inbox.routes.ts'
import { env } from './env.ts'
import { createGraphql } from './graphql/server.ts'
import { addHealthRoutes } from './health.routes.ts'
import { observeRequest, type Surface } from './metrics.ts'
import { addNotFoundRoute } from './not-found.routes.ts'
import { addOidcRoutes } from './oidc/oidc.routes.ts'
import { createRestApp } from './rest/rest.ts'
import { limitUpload } from './uploads.ts'

/** How long requests under way may take to finish once the program was told to stop. */
const STOP_LIMIT_MS = 8000

export type App = {
  /** Listens on the configured port (or the given one) and answers which it became. */
  listen: (port?: number) => Promise<{ port: number }>
  /** Stops accepting, lets requests finish, closes sockets with 1001; within 10 s. */
  close: () => Promise<void>
}

const GRAPHQL_PATH = /^\/([A-Za-z0-9-]+)\/graphql$/
const REST_PATH = /^\/[^/]*\/api(\/|$)/
const MANAGEMENT_PATH = /^\/([A-Za-z0-9-]+)\/(?:graphql$|api\/)/

const pathOf = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0] ?? '/'

/** Pages, protocol endpoints and what stands outside the tenants. */
function createWebApp(isStopping: () => boolean): H3 {
  const app = new H3({ allowMalformedURL: true })
  addHealthRoutes(app, isStopping)
  addAssetRoutes(app)
  if (!env.isProduction) {
    addInboxRoutes(app)
    addDemoClientRoutes(app)
  }
  addOidcRoutes(app)
  addEnrolmentRoutes(app)
  addNotFoundRoute(app)
  return app
}

/** Puts the program together. The runtime must be open. */
export async function createApp(): Promise<App> {
  let stopping = false
  const graphql = createGraphql()
  const web = toNodeHandler(createWebApp(() => stopping))
  const rest = toNodeHandler(createRestApp())

  const route = (
    request: IncomingMessage,
  ): { surface: Surface; handle: (response: ServerResponse) => unknown } => {
    const path = pathOf(request)
    const tenant = GRAPHQL_PATH.exec(path)?.[1]
    if (tenant) return { surface: 'graphql', handle: (response) => graphql.handle(request, response, tenant) }
    if (REST_PATH.test(path)) return { surface: 'rest', handle: (response) => rest(request, response) }
    return { surface: 'oidc', handle: (response) => web(request, response) }
  }

  // One plain server: GraphQL's event streams need the real response (graphql.md, trap 1).
  const server = createServer((request, response) => {
    limitUpload(request, response)
    const { surface, handle } = route(request)
    const start = process.hrtime.bigint()
    response.once('close', () => {
      observeRequest(
        surface,
        request.method ?? '',
        response.statusCode,
        Number(process.hrtime.bigint() - start) / 1e9,
      )
    })
    const tenant = request.headers.origin && MANAGEMENT_PATH.exec(pathOf(request))?.[1]
    if (!tenant) return void handle(response)
    // Without the database nobody's origins are known; the surface itself says what is wrong.
    void answerCors(request, response, tenant)
      .catch(() => false)
      .then((isAnswered) => isAnswered || handle(response))
  })
  server.requestTimeout = 0
  server.on('upgrade', (request, socket, head) => {
    const tenant = GRAPHQL_PATH.exec(pathOf(request))?.[1]
    if (tenant) graphql.upgrade(request, socket, head, tenant)
    else socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
  })

  return {
    listen: (port = env.port) => listen(server, port),
    close: async () => {
      stopping = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      await graphql.close()
      server.closeIdleConnections()
      const limit = setTimeout(() => server.closeAllConnections(), STOP_LIMIT_MS)
      await closed
      clearTimeout(limit)
    },
  }
}

function listen(server: Server, port: number): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, env.host, () => resolve({ port: (server.address() as AddressInfo).port }))
  })
}
