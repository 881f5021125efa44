import { LRUCache } from 'lru-cache'
import { type CachedClient, findClient, invalidateClient } from '../access/client-cache.ts'
import type { CachedTenant } from '../access/tenant-cache.ts'
import { updateClient } from '../clients/client-changes.ts'
import { createClient } from '../clients/clients.ts'
import type { Ctx } from '../context/context.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { requireStorage } from '../coordination/storage-budgets.ts'
import { Conflict, type FieldIssue, Forbidden, InvalidInput, RateLimited } from '../core/errors.ts'
import { measureJson } from '../core/json/json-size.ts'
import { documentFetch, FetchError } from '../core/network/fetcher.ts'
import { OAuthError } from '../core/oauth-error.ts'
import { addSeconds } from '../core/time.ts'
import { toAppError } from '../core/to-app-error.ts'
import { isDocumentClientId, parseClientDocument, parseFreshSeconds } from './client-document.fields.ts'
import { toMemberIssues } from './registration.fields.ts'

/** How long a stale document is used while its host does not answer. */
const STALE_RETENTION_SECONDS = 86_400
/** How long an unusable document is not fetched again. */
const RETRY_AFTER_MS = 60_000

/**
 * Why a document cannot be used. After a transient error, such as a host that does not answer, the stored
 * document stays in use.
 */
class DocumentError extends Error {
  readonly isTransient: boolean
  readonly code: 'invalid_request' | 'unauthorized_client'

  constructor(
    message: string,
    {
      isTransient = false,
      code = 'invalid_request',
      cause,
    }: { isTransient?: boolean; code?: DocumentError['code']; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.name = 'DocumentError'
    this.isTransient = isTransient
    this.code = code
  }
}

const recentErrors = new LRUCache<string, DocumentError>({
  max: 10_000,
  // Strangers choose the URLs and the documents. An error has a stack of a kilobyte.
  maxSize: 8_000_000,
  sizeCalculation: ({ message }, key) => 1500 + 2 * (key.length + message.length),
  ttl: RETRY_AFTER_MS,
})
const pendingReads = new Map<string, Promise<void>>()

const computeFreshUntilMs = (client: CachedClient, moreSeconds = 0): number =>
  (client.documentFreshUntil?.getTime() ?? 0) + moreSeconds * 1000

/**
 * Prepares an authorize or pushed request of a client whose client_id is the URL of its metadata document: fetches the
 * document and stores the client, unless the stored one is fresh or the tenant does not allow it. No other call fetches
 * documents. Throws OAuthError, never redirected, for an unusable document, and RateLimited.
 */
export async function loadDocumentClient(
  ctx: Ctx,
  { clientIdMetadataDocuments }: CachedTenant,
  clientId: string,
): Promise<void> {
  const now = new Date()
  if (!clientIdMetadataDocuments || !isDocumentClientId(clientId)) return
  const known = await findClient(ctx.tenant, clientId)
  if (known && (known.registeredBy !== 'document' || computeFreshUntilMs(known) > now.getTime())) return
  try {
    await loadDocumentOnce(ctx, clientId, now)
  } catch (error) {
    const isTransient = error instanceof RateLimited || (error instanceof DocumentError && error.isTransient)
    if (known && isTransient && computeFreshUntilMs(known, STALE_RETENTION_SECONDS) > now.getTime()) return
    if (!(error instanceof DocumentError)) throw error
    throw new OAuthError(error.code, 'The metadata document of the client cannot be used.', {
      redirect: false,
      diagnostics: { client_id: clientId, reason: error.message },
    })
  }
}

/**
 * Loads a document once for concurrent callers, and not again for a minute after a failure. Throws
 * DocumentError and RateLimited.
 */
async function loadDocumentOnce(ctx: Ctx, clientId: string, now: Date): Promise<void> {
  const key = `${ctx.tenant}\n${clientId}`
  const recentError = recentErrors.get(key)
  if (recentError) throw recentError
  let read = pendingReads.get(key)
  if (!read) {
    read = consumeLimit('fetchDocument', ctx.tenant, ctx.ip)
      .then(() => loadDocument(ctx, clientId, now))
      .catch((error: unknown) => {
        if (error instanceof DocumentError) recentErrors.set(key, error)
        throw error
      })
      .finally(() => pendingReads.delete(key))
    pendingReads.set(key, read)
  }
  await read
}

const describeIssues = (issues: readonly FieldIssue[]): string =>
  issues.map(({ field, description }) => `${field} ${description}`).join('; ')

async function loadDocument(ctx: Ctx, clientId: string, now: Date): Promise<void> {
  const answer = await fetchDocument(clientId)
  const { input, issues } = parseClientDocument(ctx.tenant, clientId, await readDocumentJson(answer))
  if (issues.length > 0) {
    // Of the methods that the document names, none is supported (section 6 of the draft).
    const isOnlyMethod = issues.every(({ field }) => field === 'token_endpoint_auth_method')
    throw new DocumentError(describeIssues(issues), { ...(isOnlyMethod && { code: 'unauthorized_client' }) })
  }
  await requireStorage('clientDocument', ctx, { bytes: measureJson([clientId, input]) })
  await saveDocumentClient(
    ctx,
    clientId,
    input,
    addSeconds(now, parseFreshSeconds(answer.headers.get('cache-control'))),
  )
}

async function fetchDocument(clientId: string): Promise<Response> {
  const answer = await documentFetch(clientId, { headers: { accept: 'application/json' } }).catch(
    (error: unknown) => {
      if (!(error instanceof FetchError)) throw error
      const isTransient = error.kind === 'unreachable' || error.kind === 'slow'
      throw new DocumentError(error.message, { isTransient, cause: error })
    },
  )
  const { status } = answer
  if (status !== 200)
    throw new DocumentError(`its host answers ${status}`, { isTransient: status >= 500 || status === 429 })
  return answer
}

async function readDocumentJson(answer: Response): Promise<unknown> {
  const type = answer.headers.get('content-type') ?? ''
  if (!/^application\/([\w.+-]+\+)?json *(;|$)/i.test(type))
    throw new DocumentError(`its Content-Type is ${type || 'missing'}, not application/json`)
  try {
    return JSON.parse(await answer.text())
  } catch (error) {
    throw new DocumentError('it is not valid JSON', { cause: error })
  }
}

/**
 * Creates the client, or updates it from the document. Of concurrent creations, one succeeds and the others
 * update. Throws DocumentError when only administrators may change the client.
 */
async function saveDocumentClient(
  ctx: Ctx,
  clientId: string,
  input: Record<string, unknown>,
  documentFreshUntil: Date,
): Promise<void> {
  if (!(await findClient(ctx.tenant, clientId))) {
    const origin = {
      by: 'document',
      columns: { id: clientId, documentFreshUntil },
      hasSecret: false,
    } as const
    const isCreated = await createClient(ctx, { ...input, type: 'login', requireConsent: true }, origin).then(
      () => true,
      (error: unknown) => {
        if (toAppError(error) instanceof Conflict) return false
        throw error
      },
    )
    if (isCreated) return
  }
  await updateClient(ctx, clientId, input, 'document').catch((error: unknown) => {
    if (error instanceof InvalidInput) throw new DocumentError(describeIssues(toMemberIssues(error.fields)))
    if (!(error instanceof Forbidden)) throw error
    throw new DocumentError('it has changed, and administrators alone change a client with assigned scopes')
  })
  await ctx.db.prisma.client.updateMany({
    where: { tenantId: ctx.tenant, id: clientId, registeredBy: 'document' },
    data: { documentFreshUntil },
  })
  invalidateClient(ctx.db, clientId)
}
