import { expect } from 'vitest'
import { registerTrustedDocuments } from '../../src/clients/documents/trusted-documents.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { dbFor } from './database.ts'

/** The required members of a new client. */
export const MINIMAL_CLIENT = { name: 'App', appType: 'web', type: 'login' } as const

/** An error with exactly these validation issues, for toThrow. */
export const withIssues = (fields: { field: string; description: unknown }[]) =>
  expect.objectContaining({ fields })

/** Registers a document for a client; returns its id. */
export async function registerDocument(tenant: string, clientId: string): Promise<string> {
  const documents = [{ documentId: 'scopes', text: '{ viewer { scopes } }' }]
  await registerTrustedDocuments(createPlatformCtx(tenant), clientId, { documents })
  return (await dbFor(tenant).trustedDocument.findFirstOrThrow({ where: { tenantId: tenant, clientId } })).id
}
