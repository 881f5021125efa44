import { GraphQLError } from 'graphql'
import { findClient } from '../../access/client-cache.ts'
import { findTenant } from '../../access/tenant-cache.ts'
import { findTrustedText } from '../../access/trusted-documents.ts'
import type { Ctx } from '../../context/context.ts'
import { sha256Hex } from '../../core/crypto.ts'
import { InvalidInput } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json/json-object.ts'
import { findRecord } from '../../core/requests/record.ts'

/** The text of a document of the console by its SHA-256. */
export type FindConsoleDocument = (hash: string) => string | undefined

/** The parameters with the id of a document: those of GraphQL over HTTP, and of clients of Relay. */
export const DOCUMENT_ID_PARAMS = ['documentId', 'id', 'doc_id'] as const

/** The hash in the form of Apollo Client. */
function readApolloHash(extensions: unknown): unknown {
  const { persistedQuery } = isJsonObject(extensions) ? extensions : {}
  return isJsonObject(persistedQuery) ? persistedQuery.sha256Hash : persistedQuery
}

/** Whether the tenant or the client of the caller accepts trusted documents only. */
async function requiresTrust({ tenant, actor }: Ctx): Promise<boolean> {
  if ((await findTenant(tenant))?.acceptedDocuments === 'trusted') return true
  if ((actor.kind !== 'client' && actor.kind !== 'user') || !actor.clientId) return false
  return (await findClient(actor.tenant, actor.clientId))?.acceptedDocuments === 'trusted'
}

const createDocumentError = (message: string, code: string, status: 400 | 403): GraphQLError =>
  new GraphQLError(message, { extensions: { code, http: { status, spec: status === 400 } } })

/**
 * The parameters of a request with the text of its document, which it has itself or names by an id. A text is judged by its own
 * hash: the one that a client sends with it means nothing. Parameters that are not valid are returned as they are.
 *
 * Throws the error for a document that is not known, or not trusted where only trusted ones are accepted. Message and code
 * of an unknown hash in the form of Apollo Client are those of Apollo Server: links of Apollo Client then send the text.
 */
export async function resolveDocument(
  params: unknown,
  ctx: Ctx,
  findConsoleDocument: FindConsoleDocument,
): Promise<unknown> {
  if (!isJsonObject(params)) return params
  const findText = async (key: string) => findConsoleDocument(key) ?? (await findTrustedText(ctx.actor, key))
  const { documentId, id, doc_id: docId, ...others } = params
  const { query, extensions } = others
  if (typeof query === 'string' && query !== '') {
    if ((await requiresTrust(ctx)) && (await findText(sha256Hex(query))) === null)
      throw createDocumentError('Only trusted documents are accepted here.', 'DOCUMENT_NOT_TRUSTED', 403)
    return others
  }
  const sent = documentId ?? id ?? docId
  const key = sent ?? readApolloHash(extensions)
  if (query || key === undefined || key === null) return params
  if (sent !== undefined && typeof sent !== 'string')
    throw new InvalidInput([{ field: 'documentId', description: 'must be a string' }])
  const text = typeof key === 'string' ? await findText(key.replace(/^sha256:/, '')) : null
  if (text !== null) {
    const record = findRecord()
    if (record) record.isTrusted = true
    return { ...others, query: text }
  }
  throw sent === undefined
    ? createDocumentError('PersistedQueryNotSupported', 'PERSISTED_QUERY_NOT_SUPPORTED', 400)
    : createDocumentError('The document is not known. Send its text.', 'DOCUMENT_NOT_FOUND', 400)
}
