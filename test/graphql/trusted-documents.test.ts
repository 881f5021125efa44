import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import {
  deleteTrustedDocument,
  listTrustedDocuments,
  registerTrustedDocuments,
} from '../../src/clients/documents/trusted-documents.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { sha256Hex } from '../../src/core/crypto.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newTenant, TENANT_SCOPES } from '../support/actors.ts'
import type { GraphqlBody } from '../support/app.ts'
import { test as base } from '../support/fixtures.ts'
import { serveGraphql } from '../support/graphql-server.ts'
import { errorOf } from '../support/graphql-test.ts'
import { countWarmStatements } from '../support/statements.ts'
import { openEventStream, openSocket } from '../support/streams.ts'

const SCOPES_QUERY = 'query Scopes { viewer { scopes } }'
const OTHER_QUERY = 'query Other { viewer { expiresAt } }'
const EVENTS_SUBSCRIPTION = 'subscription Events { events { __typename } }'
const CONSOLE_QUERY = 'query Console { viewer { client { id } } }'

/** A machine client of a tenant, and its token. */
async function makeMachine(tenant: string, more: object = {}) {
  const { client } = await createClient(createPlatformCtx(tenant), {
    name: 'Backend',
    appType: 'machine',
    type: 'login',
    scopes: TENANT_SCOPES,
    ...more,
  })
  const token = await issueAccessToken(tenant, {
    subject: client.id,
    clientId: client.id,
    scopes: TENANT_SCOPES,
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
  })
  return { id: client.id, token }
}
const register = (tenant: string, clientId: string, documents: Record<string, string>) =>
  registerTrustedDocuments(createPlatformCtx(tenant), clientId, {
    documents: Object.entries(documents).map(([documentId, text]) => ({ documentId, text })),
  })

const test = base
  .extend('at', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
    const server = await serveGraphql({
      findConsoleDocument: (hash) => (hash === sha256Hex(CONSOLE_QUERY) ? CONSOLE_QUERY : undefined),
    })
    onCleanup(server.close)
    return server
  })
  /** A tenant of the test alone, with a client and its documents. */
  .extend('scene', async ({ app: _ }) => {
    const tenant = await newTenant()
    const machine = await makeMachine(tenant)
    await register(tenant, machine.id, { scopes: SCOPES_QUERY, events: EVENTS_SUBSCRIPTION })
    return { tenant, ...machine }
  })
  /** Sends parameters by POST, or by GET; returns the code of the error, or the data. */
  .extend('ask', ({ at, scene }) => {
    return async (
      params: object,
      {
        token = scene.token,
        tenant = scene.tenant,
        method = 'POST',
      }: { token?: string | null; tenant?: string; method?: 'GET' | 'POST' } = {},
    ) => {
      const search = Object.entries(params).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ])
      const response = await fetch(
        `${at.urlOf(tenant)}${method === 'GET' ? `?${new URLSearchParams(search)}` : ''}`,
        {
          method,
          headers: {
            accept: 'application/graphql-response+json',
            'content-type': 'application/json',
            ...(token && { authorization: `Bearer ${token}` }),
          },
          ...(method === 'POST' && { body: JSON.stringify(params) }),
        },
      )
      const body = (await response.json()) as GraphqlBody
      return errorOf(body) ? [response.status, errorOf(body)?.extensions.code] : Object.keys(body.data)
    }
  })

const withHash = (sha256Hash: unknown) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } })
const NOT_TRUSTED = [403, 'DOCUMENT_NOT_TRUSTED']
const NOT_FOUND = [400, 'DOCUMENT_NOT_FOUND']

describe('a document that is registered for the client', () => {
  test('is executed by its id and by its hash, in the form of each client', async ({ ask }) => {
    const hash = sha256Hex(SCOPES_QUERY)
    for (const params of [
      { documentId: 'scopes' },
      { documentId: `sha256:${hash}` },
      { id: 'scopes' },
      { doc_id: 'scopes', variables: {}, operationName: 'Scopes' },
      withHash(hash),
      { query: '', documentId: 'scopes' },
      { query: SCOPES_QUERY, documentId: 'no matter' },
    ])
      for (const method of ['POST', 'GET'] as const) expect(await ask(params, { method })).toEqual(['viewer'])
  })

  test('is executed over event streams and WebSockets', async ({ at, scene, onTestFinished }) => {
    const stream = await openEventStream(
      at.urlOf(scene.tenant),
      scene.token,
      undefined as unknown as string,
      {},
      {},
      { documentId: 'events' },
    )
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    stream.close()
    const socket = openSocket(at.socketUrlOf(scene.tenant), scene.token)
    onTestFinished(() => void socket.dispose())
    const params = { query: '', documentId: 'scopes' }
    expect((await socket.iterate(params).next()).value).toMatchObject({ data: { viewer: {} } })
    await expect(socket.iterate({ query: '', documentId: 'nothing' } as never).next()).rejects.toMatchObject([
      { extensions: { code: 'DOCUMENT_NOT_FOUND', requestId: expect.any(String) } },
    ])
  })

  test('is not known to other clients and tenants, or without a token', async ({ ask, scene }) => {
    const other = await makeMachine(scene.tenant)
    const foreign = await newTenant()
    const foreigner = await makeMachine(foreign)
    for (const caller of [
      { token: other.token },
      { tenant: foreign, token: foreigner.token },
      { token: null },
    ]) {
      expect(await ask({ documentId: 'scopes' }, caller)).toEqual(NOT_FOUND)
      expect(await ask(withHash(sha256Hex(SCOPES_QUERY)), caller)).toEqual([
        400,
        'PERSISTED_QUERY_NOT_SUPPORTED',
      ])
    }
  })

  test('is not what another id names', async ({ ask }) => {
    for (const documentId of [
      '__proto__',
      'constructor',
      'toString',
      '',
      ' ',
      'SCOPES',
      'sha256:',
      'a'.repeat(90_000),
    ])
      expect(await ask({ documentId })).toEqual(NOT_FOUND)
    for (const documentId of [1, {}, ['scopes'], true])
      expect(await ask({ documentId })).toEqual([400, 'BAD_USER_INPUT'])
    for (const hash of [1, {}, null, ['scopes']]) expect((await ask(withHash(hash)))[0]).toBe(400)
  })

  test('is not executed with an invalid token', async ({ ask }) => {
    expect(await ask({ documentId: 'scopes' }, { token: 'nonsense' })).toEqual([401, 'UNAUTHENTICATED'])
  })

  test('is unknown within a second after its deletion', async ({ ask, scene }) => {
    const ctx = createPlatformCtx(scene.tenant)
    expect(await ask({ documentId: 'scopes' })).toEqual(['viewer'])
    const { rows } = await listTrustedDocuments(ctx, { filter: { clientId: scene.id } })
    for (const { id } of rows) await deleteTrustedDocument(ctx, id)
    await expect.poll(() => ask({ documentId: 'scopes' }), { timeout: 1500 }).toEqual(NOT_FOUND)
  })

  test('costs one statement, and none while it is cached', async ({ ask, scene }) => {
    const text = () => ask({ query: SCOPES_QUERY })
    const id = () => ask({ documentId: 'scopes' })
    expect(await countWarmStatements(text, text)).toBe(0)
    expect(await countWarmStatements(text, id)).toBe(1)
    expect(await countWarmStatements(id, id)).toBe(0)
    await updateSettings(createPlatformCtx(scene.tenant), { acceptedDocuments: 'trusted' })
    expect(await countWarmStatements(text, text)).toBe(0)
  })
})

describe.for(['tenant', 'client'] as const)('acceptedDocuments "trusted" of the %s', (level) => {
  const restricted = test.extend('scene', async ({ app: _ }) => {
    const tenant = await newTenant()
    const isTenant = level === 'tenant'
    const machine = await makeMachine(tenant, isTenant ? {} : { acceptedDocuments: 'trusted' })
    if (isTenant) await updateSettings(createPlatformCtx(tenant), { acceptedDocuments: 'trusted' })
    await register(tenant, machine.id, { scopes: SCOPES_QUERY, events: EVENTS_SUBSCRIPTION })
    return { tenant, ...machine }
  })

  restricted('rejects every other document', async ({ at, scene, ask, onTestFinished }) => {
    const trusted = sha256Hex(SCOPES_QUERY)
    for (const params of [
      { query: OTHER_QUERY },
      { query: `${SCOPES_QUERY} ` },
      // A hash that lies, and an id beside the text.
      { query: OTHER_QUERY, ...withHash(trusted) },
      { query: OTHER_QUERY, documentId: 'scopes' },
      { query: 'not GraphQL' },
    ])
      for (const method of ['POST', 'GET'] as const)
        expect(await ask(params, { method })).toEqual(NOT_TRUSTED)
    const stream = await openEventStream(at.urlOf(scene.tenant), scene.token, `${EVENTS_SUBSCRIPTION}\n`)
    expect((await stream.next())?.data?.errors?.[0]?.extensions.code).toBe('DOCUMENT_NOT_TRUSTED')
    stream.close()
    const socket = openSocket(at.socketUrlOf(scene.tenant), scene.token)
    onTestFinished(() => void socket.dispose())
    for (const query of [OTHER_QUERY, `${EVENTS_SUBSCRIPTION}\n`])
      await expect(socket.iterate({ query }).next()).rejects.toMatchObject([
        { extensions: { code: 'DOCUMENT_NOT_TRUSTED' } },
      ])
  })

  restricted('accepts those that are registered, also as text', async ({ ask }) => {
    for (const params of [
      { documentId: 'scopes' },
      { query: SCOPES_QUERY },
      withHash(sha256Hex(SCOPES_QUERY)),
    ])
      expect(await ask(params)).toEqual(['viewer'])
  })

  restricted('accepts the documents of the console', async ({ ask }) => {
    for (const params of [{ documentId: sha256Hex(CONSOLE_QUERY) }, { query: CONSOLE_QUERY }])
      expect(await ask(params)).toEqual(['viewer'])
  })

  restricted('leaves other clients of the tenant to the setting of the tenant', async ({ ask, scene }) => {
    const other = await makeMachine(scene.tenant)
    const expected = level === 'tenant' ? NOT_TRUSTED : ['viewer']
    expect(await ask({ query: SCOPES_QUERY }, { token: other.token })).toEqual(expected)
    expect(await ask({ query: '{ __typename }' }, { token: null })).toEqual(
      level === 'tenant' ? NOT_TRUSTED : ['__typename'],
    )
  })
})
