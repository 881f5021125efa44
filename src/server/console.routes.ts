import { readdirSync, readFileSync } from 'node:fs'
import type { H3, H3Event } from 'h3'
import type { TenantCall } from '../access/endpoint.http.ts'
import { ensureConsoleClient, getConsoleUrl } from '../clients/console-client.ts'
import { env } from '../core/env.ts'
import { NotFound } from '../core/errors.ts'
import { issuerOf } from '../core/issuer.ts'
import { PACKAGE_ROOT } from '../core/package-root.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { compressText, selectEncoding } from '../http/compression.ts'
import { addReadRoute } from '../http/read-routes.http.ts'
import { getRequestMeta } from '../http/request.http.ts'
import { CONSOLE_CLIENT_ID } from '../model/console-client.ts'
import { addPageRoute, redirectTo } from '../pages/responses.http.ts'
import { toErrorResponse } from '../rest/responses.ts'

const DIRECTORY = new URL('dist/console/', PACKAGE_ROOT)
const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A file of the console with its compressed forms, which the build has written. */
type ConsoleFile = { type: string; content: Buffer; br: Buffer; gzip: Buffer }

/** The files of the built console by name; none where it is not built. */
function readConsoleFiles(): ReadonlyMap<string, ConsoleFile> {
  let names: string[]
  try {
    names = readdirSync(DIRECTORY)
  } catch {
    return new Map()
  }
  const read = (name: string): Buffer => readFileSync(new URL(name, DIRECTORY))
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[name.split('.').at(-1) ?? '']
      return type
        ? [[name, { type, content: read(name), br: read(`${name}.br`), gzip: read(`${name}.gz`) }] as const]
        : []
    }),
  )
}

const ASSETS_PATH = '/assets/console'
/** The reference of the REST API of a tenant, for people. */
const REFERENCE_PATH = '/:tenant/api/v1/docs'
const YEAR_SECONDS = 31_536_000
/** The place in the document where the server says which deployment it is. */
const SETTINGS = '<meta name="vestibule" content="" />'

/** The documents load from this server alone. Pictures of users come from anywhere. */
const SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' https: data:",
  "connect-src 'self'",
  // The preview of the brand.
  "frame-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const escapeAttribute = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

/**
 * The console: its document at every path below `/{tenant}/console`, which the browser's router reads, and its files,
 * which are the same for all tenants. `/console` is that of the operators. The reference of the REST API is another
 * document of the same build.
 */
export function addConsoleRoutes(app: H3): void {
  let files: ReadonlyMap<string, ConsoleFile> = new Map()
  const findFile = (name: string): ConsoleFile | undefined => {
    if (files.size === 0) files = readConsoleFiles()
    return files.get(name)
  }
  addReadRoute(app, `${ASSETS_PATH}/:name`, (event) => {
    const file = findFile(event.context.params?.name ?? '')
    return file ? sendFile(file, event.req) : toErrorResponse(getRequestMeta(event).requestId, new NotFound())
  })
  const readDocument = (name: string): string => {
    const document = findFile(name)
    if (!document) throw new NotFound('console: it is not built')
    return document.content.toString()
  }
  addPageRoute(app, REFERENCE_PATH, {
    GET: async ({ event, ctx }) =>
      sendDocument(event, readDocument('reference.html'), { issuer: issuerOf(ctx.tenant) }),
  })
  if (!env.console) return
  addReadRoute(app, '/console', () => redirectTo(getConsoleUrl(SYSTEM_TENANT)))
  const show = (call: TenantCall) => showConsole(call, readDocument('index.html'))
  addPageRoute(app, '/:tenant/console', { GET: show })
  addPageRoute(app, '/:tenant/console/**', { GET: show })
}

function sendFile({ type, content, br, gzip }: ConsoleFile, { headers }: H3Event['req']): Response {
  const encoding = selectEncoding(headers.get('accept-encoding'))
  const body = encoding === 'br' ? br : encoding === 'gzip' ? gzip : content
  return new Response(new Uint8Array(body), {
    headers: {
      'content-type': type,
      ...(encoding && { 'content-encoding': encoding }),
      vary: 'Accept-Encoding',
      'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
      'x-content-type-options': 'nosniff',
    },
  })
}

async function showConsole({ event, ctx, tenant }: TenantCall, document: string): Promise<Response> {
  await ensureConsoleClient(ctx.tenant)
  return sendDocument(event, document, {
    issuer: issuerOf(ctx.tenant),
    tenant: ctx.tenant,
    clientId: CONSOLE_CLIENT_ID,
    name: tenant.friendlyName ?? ctx.tenant,
    environment: env.isProduction ? 'production' : 'development',
  })
}

function sendDocument(event: H3Event, document: string, settings: object): Response {
  const page = document.replace(SETTINGS, () =>
    SETTINGS.replace('""', () => `"${escapeAttribute(JSON.stringify(settings))}"`),
  )
  const encoding = selectEncoding(event.req.headers.get('accept-encoding'))
  return new Response(encoding ? compressText(page, encoding) : page, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      ...(encoding && { 'content-encoding': encoding }),
      vary: 'Accept-Encoding',
      'cache-control': 'no-store',
      'content-security-policy': SECURITY_POLICY,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    },
  })
}
