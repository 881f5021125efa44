import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { H3 } from 'h3'
import { addEnrollmentRoutes } from './account/enrollment.routes.ts'
import { addAccountPageRoutes } from './account/pages/account-pages.routes.ts'
import { env } from './core/env.ts'
import { observeRequest, type Surface } from './core/metrics.ts'
import { beginRecord } from './core/requests/begin.ts'
import { endRecord, endResponse } from './core/requests/end.ts'
import { findRecord, isRecording, noteEvent, runNoted } from './core/requests/record.ts'
import { enterProtocol } from './core/turns.ts'
import { addRelatedOriginRoutes } from './credentials/passkeys/related-origins.routes.ts'
import type { Compilation } from './graphql/compiled/execute.ts'
import { createGraphqlHandler } from './graphql/server.ts'
import {
  HEADERS_CHECK_MS,
  setBodyTimeout,
  setHeadersTimeout,
  setReadTimeout,
} from './http/connection-timeouts.ts'
import { reportMalformed } from './http/malformed-requests.http.ts'
import { type ResponseWriter, serveNode, setStrictTransport } from './http/node-response/serve.http.ts'
import { afterOpenResponses, closeWithConnection } from './http/open-responses.ts'
import { ignoreUpgrade, isWebSocketUpgrade, rejectUpgrade } from './http/upgrades.http.ts'
import { addInvitationRoutes } from './invitations/invitation.routes.ts'
import { addOidcRoutes } from './oidc/oidc.routes.ts'
import { addOrganizationSetupRoutes } from './organization-setup/setup.routes.ts'
import { addLanguageRoute } from './pages/language.routes.ts'
import { createRestApp } from './rest/rest.ts'
import { createScimApp } from './scim/scim.routes.ts'
import { addAssetRoutes } from './server/assets.routes.ts'
import { addBrandRoutes } from './server/brand.routes.ts'
import { addConsoleRoutes } from './server/console.routes.ts'
import { findConsoleDocument } from './server/console-documents.ts'
import { applyCors } from './server/cors.ts'
import { buildSchema } from './server/graphql-schema.ts'
import { addHealthRoutes } from './server/health.routes.ts'
import { listenOnPort } from './server/listen.ts'
import { addNotFoundRoute } from './server/not-found.routes.ts'
import { addPreviewRoutes } from './server/preview/preview.routes.ts'
import { addRequestReportRoute } from './server/request-report.routes.ts'
import { restRoutes } from './server/rest-routes.ts'
import { addSignalRoutes } from './signals/signals.routes.ts'

/** How long running requests may take after the program receives the signal to stop. */
const STOP_TIMEOUT_MS = 8000

export type App = {
  /** Listens on the given or the configured port. Resolves with the port. */
  listen: (port?: number) => Promise<{ port: number }>
  /** Stops accepting connections, waits for running requests and closes WebSockets with 1001, within 10 s. */
  close: () => Promise<void>
}

const GRAPHQL_ROUTE = '/:tenant/graphql'
const GRAPHQL_PATH = /^\/([A-Za-z0-9-]+)\/graphql$/
/** Without the reference, which is a page. */
const REST_PATH = /^\/[^/]*\/api(?!\/v1\/docs$)(\/|$)/
const SCIM_PATH = /^\/[^/]*\/scim(\/|$)/
/** Polls of shared signals wait: they are no work of the protocol. */
const SIGNALS_PATH = /^\/[^/]*\/ssf(\/|$)/
const MANAGEMENT_PATH = /^\/([A-Za-z0-9-]+)\/(?:graphql$|api\/)/

/** What MANAGEMENT_PORT takes from PORT: GraphQL, REST with its reference, and the console. */
const SEPARATE_PATH = /^\/(?:[^/]*\/(?:graphql|api|console)|console|assets\/console)(?:\/|$)/

/** Whether a path leads there, also in another spelling, which routers resolve. */
function isSeparatePath({ url = '/' }: IncomingMessage): boolean {
  const address = url.startsWith('/') ? `http://host${url}` : url
  if (!URL.canParse(address)) return false
  const { pathname } = new URL(address)
  try {
    return SEPARATE_PATH.test(pathname) || SEPARATE_PATH.test(decodeURIComponent(pathname))
  } catch {
    return false
  }
}

const readPath = (request: IncomingMessage): string => (request.url ?? '/').split('?', 1)[0] ?? '/'

/** Hosted pages, protocol endpoints and the paths outside the tenants. */
async function createHttpApp(isStopping: () => boolean): Promise<H3> {
  const app = new H3({ allowMalformedURL: true })
  addHealthRoutes(app, isStopping)
  addRequestReportRoute(app)
  addAssetRoutes(app)
  addPreviewRoutes(app)
  addBrandRoutes(app)
  // A file of its own in the bundle, which the image of production does not have.
  if (!env.isProduction) (await import('./dev/development.routes.ts')).addDevelopmentRoutes(app)
  addOidcRoutes(app)
  addEnrollmentRoutes(app)
  addAccountPageRoutes(app)
  addRelatedOriginRoutes(app)
  addInvitationRoutes(app)
  addOrganizationSetupRoutes(app)
  addSignalRoutes(app, isStopping)
  addLanguageRoute(app)
  addConsoleRoutes(app)
  addNotFoundRoute(app)
  return app
}

/** Composes the HTTP server. The runtime must be open. `responses` and `compilation` are set in tests only. */
export async function createApp({
  responses = 'node',
  compilation,
}: {
  responses?: ResponseWriter
  compilation?: Compilation
} = {}): Promise<App> {
  let stopping = false
  const graphql = createGraphqlHandler(buildSchema(), { compilation, findConsoleDocument })
  const serve = (app: H3) => {
    if (isRecording) app.config.onRequest = noteEvent
    return serveNode(app, responses)
  }
  const web = serve(await createHttpApp(() => stopping))
  const rest = serve(createRestApp(restRoutes))
  const scim = serve(createScimApp())

  const notFound = new H3({ allowMalformedURL: true })
  addNotFoundRoute(notFound)
  const hidden = serve(notFound)

  const matchSurface = (
    request: IncomingMessage,
    isHidden: boolean,
  ): { surface: Surface; handle: (response: ServerResponse) => unknown } => {
    if (isHidden) return { surface: 'oidc', handle: (response) => hidden(request, response) }
    const path = readPath(request)
    const tenant = GRAPHQL_PATH.exec(path)?.[1]
    if (tenant) return { surface: 'graphql', handle: (response) => graphql.handle(request, response, tenant) }
    if (REST_PATH.test(path)) return { surface: 'rest', handle: (response) => rest(request, response) }
    if (SCIM_PATH.test(path)) return { surface: 'scim', handle: (response) => scim(request, response) }
    const surface = SIGNALS_PATH.test(path) ? 'ssf' : 'oidc'
    return { surface, handle: (response) => web(request, response) }
  }

  // GraphQL event streams need the ServerResponse of Node.
  const answer = (request: IncomingMessage, response: ServerResponse, isHidden: boolean) => {
    const record = findRecord()
    const leaveConnection = closeWithConnection(request, response)
    if (!leaveConnection) return void (record && endRecord(record, 503, true))
    setBodyTimeout(request, response)
    setReadTimeout(request, response)
    // Otherwise clients that send one request after the other keep the process from stopping.
    if (stopping) response.shouldKeepAlive = false
    const { surface, handle } = matchSurface(request, isHidden)
    if (record && surface === 'graphql') record.route = GRAPHQL_ROUTE
    if (surface === 'graphql') setStrictTransport(response)
    const start = performance.now()
    const leaveProtocol = surface === 'oidc' ? enterProtocol() : undefined
    response.once('close', () => {
      leaveConnection()
      leaveProtocol?.()
      observeRequest(surface, request.method ?? '', response.statusCode, (performance.now() - start) / 1000)
      if (record) endResponse(record, response)
    })
    const tenant = !isHidden && request.headers.origin && MANAGEMENT_PATH.exec(readPath(request))?.[1]
    if (!tenant) return void handle(response)
    // Without the database the origins are unknown; the API itself then reports the error.
    void applyCors(request, response, tenant)
      .catch(() => false)
      .then((isAnswered) => isAnswered || handle(response))
  }
  const openSocket = (request: IncomingMessage, socket: Duplex, head: Buffer, isHidden: boolean) => {
    const tenant = GRAPHQL_PATH.exec(readPath(request))?.[1]
    if (!tenant || isHidden) return rejectUpgrade(socket, '404 Not Found')
    const record = findRecord()
    if (record) record.route = GRAPHQL_ROUTE
    graphql.upgrade(request, socket, head, tenant)
  }
  /** A node:http server; one that `hides` the management surfaces does not find them. */
  const createListener = (hides: boolean): Server => {
    const isHidden = (request: IncomingMessage) => hides && isSeparatePath(request)
    const server = createServer({ connectionsCheckingInterval: HEADERS_CHECK_MS }, (request, response) => {
      const record = beginRecord(request)
      if (record) runNoted(record, answer, request, response, isHidden(request))
      else answer(request, response, isHidden(request))
    })
    if (isRecording) reportMalformed(server, endRecord)
    setHeadersTimeout(server)
    server.on('upgrade', (request, socket, head) => {
      // Node removes its own listener: a reset would end the process.
      const destroy = () => void socket.destroy()
      socket.on('error', destroy)
      afterOpenResponses(socket, () => {
        if (!isWebSocketUpgrade(request)) {
          socket.off('error', destroy)
          return ignoreUpgrade(server, request, socket as Socket, head)
        }
        const record = beginRecord(request)
        if (!record) return openSocket(request, socket, head, isHidden(request))
        // A socket that opened has its line at its end; `ws` answers a malformed handshake by itself.
        socket.once('close', () => endRecord(record, record.status ?? 400))
        runNoted(record, openSocket, request, socket, head, isHidden(request))
      })
    })
    return server
  }
  const hasManagementPort = env.managementPort !== undefined
  const servers = [createListener(hasManagementPort), ...(hasManagementPort ? [createListener(false)] : [])]

  return {
    listen: async (port = env.port) => {
      const [main, management] = servers as [Server, Server?]
      if (management) await listenOnPort(management, env.managementPort as number)
      return listenOnPort(main, port)
    },
    close: async () => {
      stopping = true
      const closed = Promise.all(
        servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
      )
      await graphql.close()
      for (const server of servers) server.closeIdleConnections()
      const limit = setTimeout(() => {
        for (const server of servers) server.closeAllConnections()
      }, STOP_TIMEOUT_MS)
      await closed
      clearTimeout(limit)
    },
  }
}
