import type { Actor } from '../context/context.ts'
import { createCache } from '../coordination/cache.ts'
import { type Db, Handle } from '../database/handle.ts'
import { type ClientDocument, selectClientDocuments } from './client.sql.ts'

const clientDocumentsCache = createCache<{ documents: readonly ClientDocument[] }>(
  'trusted-documents',
  async (tenant, clientId) => ({ documents: await selectClientDocuments(new Handle({ tenant }), clientId) }),
)

/**
 * The text that is registered for the client of the caller under this id, or that has this SHA-256; null without one. At
 * most a second old: one statement when the documents of the client are not cached, none otherwise.
 */
export async function findTrustedText(actor: Actor, key: string): Promise<string | null> {
  if ((actor.kind !== 'client' && actor.kind !== 'user') || !actor.clientId) return null
  const found = await clientDocumentsCache.get(actor.tenant, actor.clientId)
  // A client has a thousand at most.
  return found?.documents.find(({ documentId, digest }) => documentId === key || digest === key)?.text ?? null
}

/** Drops the cached documents of a client after the commit. */
export const invalidateTrustedDocuments = (db: Db, clientId: string): void =>
  clientDocumentsCache.invalidate(db, clientId)
