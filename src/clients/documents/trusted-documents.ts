import { isClientId } from '../../access/client-ids.ts'
import { invalidateTrustedDocuments } from '../../access/trusted-documents.ts'
import type { Ctx } from '../../context/context.ts'
import { newId, readIdPrefix, sha256Hex } from '../../core/crypto.ts'
import { Conflict, type FieldIssue, InvalidInput, NotFound } from '../../core/errors.ts'
import type { Db, Tx } from '../../database/handle.ts'
import { listInOrder } from '../../database/page-query.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import type { TrustedDocument } from '../../generated/prisma/client.ts'
import { readOperation } from '../../graphql/limits/registered-document.ts'
import { lockTenantRow } from '../../keys/keys.sql.ts'
import { parseInput } from '../../schema/input-shapes.ts'
import { type ListArgs, type Page, parseListArgs } from '../../schema/page.ts'
import { lockClientRow } from '../client-changes.sql.ts'
import { requireClientControl, requirePlatformForSharedClient } from '../client-changes.ts'
import {
  TRUSTED_DOCUMENT_FILTER,
  type TrustedDocumentFilter,
  TrustedDocumentRegistration,
} from './trusted-documents.fields.ts'

export type { TrustedDocument }

/** The documents of one client, and of all clients of a tenant. */
const CLIENT_LIMITS = { documents: 1000, bytes: 2_000_000 }
const TENANT_LIMITS = { documents: 5000, bytes: 5_000_000 }

const SHA256 = /^[0-9a-f]{64}$/i

/** A document of a registration. */
type Given = { documentId: string; text: string }
type Checked = Given & { digest: string; operationName: string | null }

/** Checks one document. Throws InvalidInput. */
function checkDocument({ documentId: given, text }: Given, index: number): Checked {
  const reject = (member: string, description: string) =>
    new InvalidInput([{ field: `documents.${index}.${member}`, description }])
  const documentId = given.replace(/^sha256:/, '')
  const digest = sha256Hex(text)
  // Otherwise a client that asks for a text by its hash would get another one.
  if (SHA256.test(documentId) && documentId !== digest)
    throw reject('documentId', 'is not the SHA-256 of the text')
  const operation = readOperation(text)
  if ('problem' in operation) throw reject('text', operation.problem)
  return { documentId, text, digest, operationName: operation.name }
}

/** Each document once. Throws InvalidInput when an id has two texts. */
function mergeDocuments(documents: readonly Checked[]): Map<string, Checked> {
  const byId = new Map<string, Checked>()
  for (const [index, document] of documents.entries()) {
    const other = byId.get(document.documentId)
    if (other && other.digest !== document.digest)
      throw new InvalidInput([
        { field: `documents.${index}.documentId`, description: 'occurs with another text' },
      ])
    byId.set(document.documentId, document)
  }
  return byId
}

/** Throws InvalidInput when the documents have more than the limits. */
async function assertWithin(
  { prisma, tenant: tenantId }: Tx,
  clientId: string | undefined,
  limits: typeof CLIENT_LIMITS,
): Promise<void> {
  const { _count: count, _sum: sum } = await prisma.trustedDocument.aggregate({
    where: { tenantId, clientId },
    _count: true,
    _sum: { bytes: true },
  })
  if (count <= limits.documents && (sum.bytes ?? 0) <= limits.bytes) return
  const owner = clientId === undefined ? 'the tenant' : 'the client'
  const description = `exceed the limits of ${owner}, ${limits.documents} documents and ${limits.bytes} bytes: delete those that are not used`
  throw new InvalidInput([{ field: 'documents', description }])
}

/** Locks the client whose documents are changed. Throws NotFound, and the Forbidden of its update. */
async function lockClient(ctx: Ctx, tx: Tx, clientId: string): Promise<void> {
  const client = isClientId(clientId) ? await lockClientRow(tx, clientId) : null
  if (!client) throw new NotFound('client')
  requirePlatformForSharedClient(ctx, client)
  requireClientControl(ctx, [client])
}

/** The documents that are not registered yet. Throws Conflict when an id is registered with another text. */
async function listNew(
  { prisma, tenant: tenantId }: Tx,
  clientId: string,
  documents: ReadonlyMap<string, Checked>,
): Promise<Checked[]> {
  const known = await prisma.trustedDocument.findMany({
    where: { tenantId, clientId, documentId: { in: [...documents.keys()] } },
    select: { documentId: true, digest: true },
  })
  const issues: FieldIssue[] = known
    .filter(({ documentId, digest }) => documents.get(documentId)?.digest !== digest)
    .map(({ documentId }) => ({ field: 'documents', description: `${documentId} has another text` }))
  if (issues.length > 0) throw new Conflict(issues, 'An id keeps its text.')
  const isKnown = new Set(known.map(({ documentId }) => documentId))
  return [...documents.values()].filter(({ documentId }) => !isKnown.has(documentId))
}

/**
 * Registers documents for a client, all of them or none. An id keeps its text: those that are registered already are
 * unchanged. Throws InvalidInput, NotFound, Conflict, and Forbidden when the caller lacks scopes of the client, or for
 * an operator's client.
 */
export async function registerTrustedDocuments(
  ctx: Ctx,
  clientId: string,
  input: unknown,
): Promise<{ registered: number; unchanged: number }> {
  const documents = mergeDocuments(
    parseInput(TrustedDocumentRegistration, input).documents.map(checkDocument),
  )
  return ctx.db.transaction(async (tx) => {
    await lockClient(ctx, tx, clientId)
    await lockTenantRow(tx)
    const added = await listNew(tx, clientId, documents)
    if (added.length > 0) {
      await tx.prisma.trustedDocument.createMany({
        data: added.map((document) => ({
          ...document,
          tenantId: ctx.tenant,
          id: newId('trusteddoc'),
          clientId,
          bytes: Buffer.byteLength(document.text),
        })),
      })
      await assertWithin(tx, clientId, CLIENT_LIMITS)
      await assertWithin(tx, undefined, TENANT_LIMITS)
      invalidateTrustedDocuments(tx, clientId)
      await recordEvents(tx, ctx, [
        createEvent('trusted_document.registered', { clientId }, { documents: added.length }),
      ])
    }
    return { registered: added.length, unchanged: documents.size - added.length }
  })
}

/** What cursors of a list of documents are bound to. */
export const toTrustedDocumentListName = (
  tenant: string,
  { clientId = '' }: TrustedDocumentFilter = {},
): string => `${tenant}:trusted-documents:${clientId}`

/** The registered documents of the tenant with these ids, in any order. */
export const findTrustedDocuments = ({ prisma, tenant }: Db, ids: string[]): Promise<TrustedDocument[]> =>
  prisma.trustedDocument.findMany({ where: { tenantId: tenant, id: { in: ids } } })

/** The registered documents, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listTrustedDocuments(ctx: Ctx, args: ListArgs): Promise<Page<TrustedDocument>> {
  const { filter } = parseListArgs(args, TRUSTED_DOCUMENT_FILTER)
  const { trustedDocument } = ctx.db.prisma
  const where = { tenantId: ctx.tenant, ...filter }
  return listInOrder(ctx, args, {
    name: toTrustedDocumentListName(ctx.tenant, filter),
    column: 'id',
    read: (page) => trustedDocument.findMany({ ...page, where: { ...where, ...page.where } }),
    countAll: () => trustedDocument.count({ where }),
  })
}

/** Deletes a registered document: the client can send it no longer. Throws NotFound, and the Forbidden of a registration. */
export async function deleteTrustedDocument(
  ctx: Ctx,
  trustedDocumentId: string,
): Promise<{ deletedTrustedDocumentId: string }> {
  const [found] =
    readIdPrefix(trustedDocumentId) === 'trusteddoc'
      ? await findTrustedDocuments(ctx.db, [trustedDocumentId])
      : []
  if (!found) throw new NotFound('document')
  const { clientId } = found
  await ctx.db.transaction(async (tx) => {
    await lockClient(ctx, tx, clientId)
    const where = { tenantId: ctx.tenant, id: trustedDocumentId }
    if ((await tx.prisma.trustedDocument.deleteMany({ where })).count === 0) throw new NotFound('document')
    invalidateTrustedDocuments(tx, clientId)
    await recordEvents(tx, ctx, [createEvent('trusted_document.deleted', { clientId, trustedDocumentId })])
  })
  return { deletedTrustedDocumentId: trustedDocumentId }
}
