import { describe, expect } from 'vitest'
import { registerTrustedDocuments } from '../../src/clients/documents/trusted-documents.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { sha256Hex } from '../../src/core/crypto.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { withIssues } from '../support/clients.ts'
import { dbFor } from '../support/database.ts'
import { makeClient } from '../support/protocol.ts'
import { test as base } from '../support/tenant-per-test.ts'

const QUERY = 'query Users { users(first: 10) { nodes { id } } }'
const entry = (documentId: string, text = QUERY) => ({ documentId, text })
/** A valid document of so many characters. */
const writeLong = (name: string, length: number) =>
  `query ${name} { viewer { scopes } } #`.padEnd(length, '#')

const test = base
  .extend('client', ({ tenant }) => makeClient(tenant))
  .extend(
    'register',
    ({ tenant, client }) =>
      (...documents: object[]) =>
        registerTrustedDocuments(createPlatformCtx(tenant), client.id, { documents }),
  )

describe('the operations on trusted documents', () => {
  test('register, list and delete them over REST', async ({ rest, client, events }) => {
    const path = `/clients/${client.id}/trusted-documents`
    const documents = [entry('users'), entry('anonymous', '{ viewer { scopes } }')]
    expect((await rest('POST', path, { documents })).body).toEqual({ registered: 2, unchanged: 0 })
    expect((await rest('POST', path, { documents })).body).toEqual({ registered: 0, unchanged: 2 })
    const list = await rest('GET', `/trusted-documents?clientId=${client.id}`)
    expect(list.body).toMatchObject({
      totalSize: 2,
      trustedDocuments: expect.arrayContaining([
        {
          id: expect.stringMatching(/^trusteddoc_/),
          clientId: client.id,
          documentId: 'users',
          operationName: 'Users',
          text: QUERY,
          digest: sha256Hex(QUERY),
          bytes: QUERY.length,
          createdAt: expect.any(String),
        },
        expect.objectContaining({ documentId: 'anonymous', operationName: null }),
      ]),
    })
    const [{ id }] = list.body.trustedDocuments
    expect((await rest('DELETE', `/trusted-documents/${id}`)).status).toBe(200)
    expect((await rest('DELETE', `/trusted-documents/${id}`)).status).toBe(404)
    expect((await events({ subjectId: client.id })).slice(-2)).toMatchObject([
      { type: 'trusted_document.registered', detail: { documents: 2 } },
      { type: 'trusted_document.deleted', subjectIds: [client.id, id] },
    ])
  })

  test('register, list and delete them over GraphQL', async ({ gql, client }) => {
    const registered = await gql(
      `mutation Register($input: RegisterTrustedDocumentsInput!) {
        registerTrustedDocuments(input: $input) {
          ... on RegisterTrustedDocumentsPayload { registered unchanged }
          ... on UserError { code }
        }
      }`,
      { input: { clientId: client.id, documents: [entry('users')] } },
    )
    expect(registered.body.data).toEqual({ registerTrustedDocuments: { registered: 1, unchanged: 0 } })
    const list = await gql(
      `query List($clientId: ID!) { trustedDocuments(filter: { clientId: $clientId }) { nodes { id documentId text } } }`,
      { clientId: client.id },
    )
    const { id, ...document } = list.body.data.trustedDocuments.nodes[0]
    expect(document).toEqual(entry('users'))
    const deleted = await gql(
      `mutation Delete($id: ID!) {
        deleteTrustedDocument(input: { trustedDocumentId: $id }) {
          ... on DeleteTrustedDocumentPayload { deletedTrustedDocumentId }
        }
      }`,
      { id },
    )
    expect(deleted.body.data).toEqual({ deleteTrustedDocument: { deletedTrustedDocumentId: id } })
  })

  test('require all scopes of the client', async ({ tenant, rest }) => {
    const { id } = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:write'] })
    const scopes = ['clients:read', 'clients:write'] as const
    const path = `/clients/${id}/trusted-documents`
    const documents = [entry('users')]
    expect((await rest('POST', path, { documents }, { scopes })).status).toBe(403)
    expect((await rest('POST', path, { documents })).status).toBe(200)
    const { trustedDocument } = dbFor(tenant)
    const [row] = await trustedDocument.findMany({ where: { tenantId: tenant, clientId: id } })
    expect((await rest('DELETE', `/trusted-documents/${row?.id}`, undefined, { scopes })).status).toBe(403)
  })

  test('are about the clients of the own tenant', async ({ rest, client, register }) => {
    await register(entry('users'))
    const foreign = { tenant: await newTenant() }
    const { trustedDocuments } = (await rest('GET', '/trusted-documents')).body
    expect((await rest('GET', '/trusted-documents', undefined, foreign)).body.trustedDocuments).toEqual([])
    const path = `/trusted-documents/${trustedDocuments[0].id}`
    expect((await rest('DELETE', path, undefined, foreign)).status).toBe(404)
    const body = { documents: [entry('users')] }
    const answer = await rest('POST', `/clients/${client.id}/trusted-documents`, body, foreign)
    expect(answer.status).toBe(404)
  })
})

describe('a registration of documents', () => {
  test('names what is wrong with a document', async ({ register }) => {
    for (const [document, member, description] of [
      [entry('a'.repeat(64)), 'documentId', 'is not the SHA-256 of the text'],
      [entry(`sha256:${'a'.repeat(64)}`), 'documentId', 'is not the SHA-256 of the text'],
      [entry(sha256Hex(QUERY).toUpperCase()), 'documentId', 'is not the SHA-256 of the text'],
      [entry('a b'), 'documentId', 'must have no spaces, and ASCII characters only'],
      [entry('é'), 'documentId', 'must have no spaces, and ASCII characters only'],
      [entry('a'.repeat(201)), 'documentId', 'must have at most 200 characters'],
      [entry('a', 'users'), 'text', expect.stringContaining('Syntax Error')],
      [entry('a', 'query A { a } query B { b }'), 'text', 'A document must have one operation.'],
      [entry('a', 'fragment A on User { id }'), 'text', 'A document must have one operation.'],
      [entry('a', `{ ${'a '.repeat(3000)} }`), 'text', expect.stringContaining('2000 tokens')],
      [entry('a', `{ ${'a '.repeat(200)} }`), 'text', expect.stringContaining('selections in one set')],
      [entry('a', writeLong('A', 20_001)), 'text', 'must have at most 20000 characters'],
    ] as const)
      await expect(register(entry('valid'), document)).rejects.toThrow(
        withIssues([{ field: `documents.1.${member}`, description }]),
      )
  })

  test('keeps the text of an id', async ({ register }) => {
    await register(entry('users'))
    await expect(register(entry('new'), entry('users', '{ viewer { scopes } }'))).rejects.toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'documents', description: 'users has another text' }],
    })
    await expect(register(entry('a'), entry('a', '{ __typename }'))).rejects.toThrow(
      withIssues([{ field: 'documents.1.documentId', description: 'occurs with another text' }]),
    )
    expect(await register(entry('a'), entry('a'), entry('__proto__'), entry('users'))).toEqual({
      registered: 2,
      unchanged: 1,
    })
  })

  test('accepts a hash as the compilers write it', async ({ register, tenant }) => {
    await register(entry(`sha256:${sha256Hex(QUERY)}`))
    expect(
      await dbFor(tenant).trustedDocument.count({
        where: { tenantId: tenant, documentId: sha256Hex(QUERY) },
      }),
    ).toBe(1)
  })

  test('ends at the limits of the client and of the tenant, also when several run at once', async ({
    register,
    tenant,
  }) => {
    const fill = (prefix: string, count: number, characters: number) =>
      Array.from({ length: count }, (_, index) =>
        entry(`${prefix}${index}`, writeLong(`A${index}`, characters)),
      )
    const exceeds = (limit: string) => expect.stringContaining(limit)
    const attempts = await Promise.allSettled(
      [1, 2, 3].map((run) => register(...fill(`${run}.`, 45, 19_900))),
    )
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    await expect(register(...fill('a', 911, 50))).rejects.toThrow(
      withIssues([{ field: 'documents', description: exceeds('of the client, 1000 documents') }]),
    )
    const ctx = createPlatformCtx(tenant)
    const registerAt = async (documents: object[]) =>
      registerTrustedDocuments(ctx, (await makeClient(tenant)).id, { documents })
    await registerAt(fill('b', 100, 19_900))
    await expect(registerAt(fill('c', 100, 19_900))).rejects.toThrow(
      withIssues([{ field: 'documents', description: exceeds('of the tenant, 5000 documents') }]),
    )
    await expect(register(...fill('d', 1001, 50))).rejects.toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  test('is not known for a client that does not exist', async ({ tenant }) => {
    const ctx = await ctxFor(tenant)
    for (const clientId of ['client_01k7r3m8wxe4gbr5v2c9t6hznq', '__proto__', ''])
      await expect(
        registerTrustedDocuments(ctx, clientId, { documents: [entry('a')] }),
      ).rejects.toMatchObject({
        code: 'NOT_FOUND',
      })
  })

  test('ends with the client', async ({ register, rest, client, tenant }) => {
    await register(entry('users'))
    await rest('DELETE', `/clients/${client.id}`)
    expect(await dbFor(tenant).trustedDocument.count({ where: { tenantId: tenant } })).toBe(0)
  })
})
