import { LRUCache } from 'lru-cache'
import { type CachedClient, findClient, forgetClient } from '../clients/client-cache.ts'
import { updateClient } from '../clients/client-changes.ts'
import { createClient } from '../clients/clients.ts'
import type { Ctx } from '../ctx.ts'
import { sql } from '../db.ts'
import { Conflict, describeError, Forbidden, OAuthError, RateLimited } from '../errors.ts'
import { documentFetch, FetchFault } from '../fetcher.ts'
import { spend } from '../limits.ts'
import type { CachedTenant } from '../tenants/tenant-cache.ts'
import { after } from '../time.ts'
import { freshSeconds, isDocumentId, readDocument } from './client-document.fields.ts'
import { updateFreshUntil } from './client-documents.sql.ts'

/** How long a document that was read serves on while its host does not answer. */
const KEPT_SECONDS = 86_400
/** How long a document that could not be used is not asked for again. */
const RETRY_AFTER_MS = 60_000

/** Why a document cannot be used. What passes, such as a host that does not answer, lets the document before serve on. */
class DocumentFault extends Error {
  readonly passes: boolean

  constructor(message: string, { passes = false, cause }: { passes?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.name = 'DocumentFault'
    this.passes = passes
  }
}

const faults = new LRUCache<string, DocumentFault>({ max: 10_000, ttl: RETRY_AFTER_MS })
const reading = new Map<string, Promise<void>>()

const until = (client: CachedClient, moreSeconds = 0): number =>
  (client.documentFreshUntil?.getTime() ?? 0) + moreSeconds * 1000

/**
 * The client that begins something at authorize or par: one that is known, or, where the tenant takes such, one whose client_id
 * is the URL of its metadata document, which is fetched unless it was read lately. Nothing else fetches. None or one statement
 * for a client that is known. Throws OAuthError, which is never redirected, for a document that cannot be used, and RateLimited.
 */
export async function findRequestingClient(
  ctx: Ctx,
  { clientIdMetadataDocuments }: CachedTenant,
  clientId: string,
  now = new Date(),
): Promise<CachedClient | null> {
  const known = await findClient(ctx.tenant, clientId)
  if (!clientIdMetadataDocuments || !isDocumentId(clientId)) return known
  if (known && (known.registeredBy !== 'document' || until(known) > now.getTime())) return known
  try {
    await readOnce(ctx, clientId, now)
  } catch (error) {
    const passes = error instanceof RateLimited || (error instanceof DocumentFault && error.passes)
    if (known && passes && until(known, KEPT_SECONDS) > now.getTime()) return known
    if (!(error instanceof DocumentFault)) throw error
    throw new OAuthError('invalid_request', 'The metadata document of the client cannot be used.', {
      redirect: false,
      why: { client_id: clientId, reason: error.message },
    })
  }
  return findClient(ctx.tenant, clientId)
}

/** Reads the document: once for all who ask at the same time, and not again for a while after it could not be used. */
async function readOnce(ctx: Ctx, clientId: string, now: Date): Promise<void> {
  const key = `${ctx.tenant}\n${clientId}`
  const fault = faults.get(key)
  if (fault) throw fault
  let read = reading.get(key)
  if (!read) {
    read = spend('fetchDocument', ctx.tenant, ctx.ip)
      .then(() => readAndKeep(ctx, clientId, now))
      .catch((error: unknown) => {
        if (error instanceof DocumentFault) faults.set(key, error)
        throw error
      })
      .finally(() => reading.delete(key))
    reading.set(key, read)
  }
  await read
}

async function readAndKeep(ctx: Ctx, clientId: string, now: Date): Promise<void> {
  const answer = await fetchDocument(clientId)
  const { input, faults } = readDocument(ctx.tenant, clientId, await jsonOf(answer))
  if (faults.length > 0)
    throw new DocumentFault(faults.map(({ field, description }) => `${field} ${description}`).join('; '))
  await keep(ctx, clientId, input, after(now, freshSeconds(answer.headers.get('cache-control'))))
}

async function fetchDocument(clientId: string): Promise<Response> {
  const answer = await documentFetch(clientId, { headers: { accept: 'application/json' } }).catch(
    (error: unknown) => {
      if (!(error instanceof FetchFault)) throw error
      const passes = error.kind === 'unreachable' || error.kind === 'slow'
      throw new DocumentFault(error.message, { passes, cause: error })
    },
  )
  const { status } = answer
  if (status !== 200)
    throw new DocumentFault(`its host answers ${status}`, { passes: status >= 500 || status === 429 })
  return answer
}

async function jsonOf(answer: Response): Promise<unknown> {
  const type = answer.headers.get('content-type') ?? ''
  if (!/^application\/([\w.+-]+\+)?json *(;|$)/i.test(type))
    throw new DocumentFault(`its Content-Type is ${type || 'missing'}, not application/json`)
  try {
    return JSON.parse(await answer.text())
  } catch (error) {
    throw new DocumentFault('it is not valid JSON', { cause: error })
  }
}

/** Makes the client, or changes it where the document says otherwise than before. Of several who make it, one does. */
async function keep(
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
    const isMade = await createClient(ctx, { ...input, type: 'login', requireConsent: true }, origin).then(
      () => true,
      (error: unknown) => {
        if (describeError(error) instanceof Conflict) return false
        throw error
      },
    )
    if (isMade) return forgetClient(ctx.tenant, clientId)
  }
  await updateClient(ctx, clientId, input, 'document').catch((error: unknown) => {
    if (!(error instanceof Forbidden)) throw error
    throw new DocumentFault('it has changed, and administrators alone change a client with management scopes')
  })
  await updateFreshUntil(sql, ctx.tenant, clientId, documentFreshUntil)
  forgetClient(ctx.tenant, clientId)
}
