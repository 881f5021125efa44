import { readFile, stat } from 'node:fs/promises'
import { text as readStream } from 'node:stream/consumers'
import {
  deleteTrustedDocument,
  listTrustedDocuments,
  registerTrustedDocuments,
} from '../clients/documents/trusted-documents.ts'
import { InvalidInput } from '../core/errors.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { collectRows } from '../schema/page.ts'
import {
  confirmDeletion,
  createTenantCtx,
  defineCommandGroup,
  defineDatabaseCommand,
  formatTable,
  TENANT_ARG,
} from './command.ts'
import { createFileError } from './file-errors.ts'

const CLIENT_ARG = { type: 'string', required: true, description: 'Id of the client' } as const
/** A client has 2 MB of documents at most, which JSON may write in twice as many. */
const MAX_FILE_BYTES = 10_000_000

const reject = (description: string) =>
  new InvalidInput([{ field: 'file', description }], 'The command is not valid.')

async function readFileText(path: string): Promise<string> {
  try {
    if (path === '-') return await readStream(process.stdin)
    if ((await stat(path)).size <= MAX_FILE_BYTES) return await readFile(path, 'utf8')
  } catch (error) {
    throw createFileError('file', error, 'read')
  }
  throw reject(`must have at most ${MAX_FILE_BYTES} bytes`)
}

/**
 * The documents of a manifest: of the Relay compiler, an object with the text of each id, or of Apollo's
 * generate-persisted-query-manifest. Throws InvalidInput.
 */
function readManifest(text: string): { documentId: unknown; text: unknown }[] {
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch {
    throw reject('is not JSON')
  }
  if (!isJsonObject(manifest)) throw reject('must be a manifest of the Relay compiler or of Apollo Client')
  if (manifest.format !== 'apollo-persisted-query-manifest')
    return Object.entries(manifest).map(([documentId, document]) => ({ documentId, text: document }))
  if (!Array.isArray(manifest.operations)) throw reject('has no operations')
  return manifest.operations.map((operation: unknown) => {
    const { id, body } = isJsonObject(operation) ? operation : {}
    return { documentId: id, text: body }
  })
}

const pushCommand = defineDatabaseCommand({
  name: 'push',
  description: 'Register the GraphQL documents of a manifest for a client',
  args: {
    file: {
      type: 'positional',
      required: true,
      description: 'Manifest of the Relay compiler or of Apollo Client; - is standard input',
    },
    tenant: TENANT_ARG,
    client: CLIENT_ARG,
  },
  run: async ({ file, tenant, client }) => {
    const ctx = await createTenantCtx(tenant)
    const documents = readManifest(await readFileText(file))
    const result = await registerTrustedDocuments(ctx, client, { documents })
    return {
      text: `Registered ${result.registered}; ${result.unchanged} were registered before.`,
      json: result,
    }
  },
})

const listDocuments = async (tenant: string, clientId: string) => {
  const ctx = await createTenantCtx(tenant)
  return collectRows((args) => listTrustedDocuments(ctx, { ...args, filter: { clientId } }))
}

const listCommand = defineDatabaseCommand({
  name: 'list',
  description: 'List the registered GraphQL documents of a client',
  args: { tenant: TENANT_ARG, client: CLIENT_ARG },
  run: async ({ tenant, client }) => {
    const documents = await listDocuments(tenant, client)
    const rows = documents.map(({ documentId, operationName, bytes, createdAt }) => [
      documentId,
      operationName ?? '-',
      String(bytes),
      createdAt.toISOString(),
    ])
    return {
      text: formatTable([['ID', 'OPERATION', 'BYTES', 'REGISTERED'], ...rows]),
      json: documents.map(({ tenantId: _, ...document }) => document),
    }
  },
})

const deleteCommand = defineDatabaseCommand({
  name: 'delete',
  description: 'Delete a registered GraphQL document of a client, or all of them',
  args: {
    id: { type: 'positional', required: false, description: 'Id of the document, as in the manifest' },
    tenant: TENANT_ARG,
    client: CLIENT_ARG,
    all: { type: 'boolean', description: 'Delete all documents of the client' },
    yes: { type: 'boolean', description: 'Do not ask for confirmation' },
  },
  run: async ({ id, tenant, client, all, yes }) => {
    if ((id === undefined) !== (all === true))
      throw new InvalidInput(
        [{ field: 'id', description: 'is required, or --all' }],
        'The command is not valid.',
      )
    const documents = await listDocuments(tenant, client)
    const chosen = all ? documents : documents.filter(({ documentId }) => documentId === id)
    if (chosen.length === 0)
      throw new InvalidInput([{ field: 'id', description: 'is not registered' }], 'Nothing was deleted.')
    if (!yes)
      await confirmDeletion(
        `${chosen.length} documents that client ${client} may be sending will be deleted. Type its id`,
        client,
      )
    const ctx = await createTenantCtx(tenant)
    for (const document of chosen) await deleteTrustedDocument(ctx, document.id)
    return { text: `Deleted ${chosen.length}.`, json: { deleted: chosen.length } }
  },
})

export const documentCommand = defineCommandGroup(
  'document',
  'Trusted GraphQL documents of a client',
  { push: pushCommand, list: listCommand, delete: deleteCommand },
  'documents',
)
