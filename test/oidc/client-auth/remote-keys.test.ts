import { afterEach, describe, expect, vi } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { test as base, INVALID_CLIENT, JWT_BEARER, MACHINE } from '../../support/client-assertions.ts'
import { type Serve, serveJson, startDocumentHost } from '../../support/client-documents.ts'
import { type ClientKey, makeAssertion, makeKey } from '../../support/proofs.ts'
import { authorizePath, REDIRECT_URI } from '../../support/protocol.ts'

type Named = { key: ClientKey; kid: string }

const makeNamed = async (kid: string): Promise<Named> => ({ key: await makeKey(), kid })
const toSet = (...named: Named[]) => ({ keys: named.map(({ key, kid }) => ({ ...key.jwk, kid })) })
const serveKeys =
  (set: object): Serve =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/jwk-set+json' }).end(JSON.stringify(set))

const test = base
  .extend('documents', { scope: 'file' }, async ({ app: _app }, { onCleanup }) => {
    const documents = await startDocumentHost()
    onCleanup(documents.close)
    return documents
  })
  /** Publishes a key set, and makes a client that refers to it. */
  .extend(
    'refer',
    { scope: 'file' },
    ({ documents, newClient, issuer, present }) =>
      async (...published: Named[]) => {
        const jwksUri = documents.publish(serveKeys(toSet(...published)), 'keys')
        const client = await newClient({ ...MACHINE, jwksUri })
        return {
          publish: (...named: Named[]) => documents.republish(jwksUri, serveKeys(toSet(...named))),
          countFetches: () => documents.countRequests(jwksUri),
          authenticate: async ({ key, kid }: Named) =>
            present(await makeAssertion(key, { clientId: client.id, audience: issuer }, { header: { kid } })),
        }
      },
  )

  /** Introduces a client that refers to keys; returns its id. Nobody has reviewed it. */
  .extend(
    'introduce',
    { scope: 'file' },
    ({ app, tenant, documents }) =>
      async (by: 'registration' | 'document', jwksUri: string): Promise<string> => {
        await updateSettings(createPlatformCtx(tenant), {
          openRegistration: true,
          clientIdMetadataDocuments: true,
        })
        const metadata = {
          redirect_uris: [REDIRECT_URI],
          token_endpoint_auth_method: 'private_key_jwt',
          jwks_uri: jwksUri,
        }
        if (by === 'document') return documents.publish(serveJson(metadata))
        const registered = await app.fetch(`/${tenant}/oidc/register`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(metadata),
        })
        return ((await registered.json()) as { client_id: string }).client_id
      },
  )
  /** Pushes a request of a client with an assertion; returns the status. */
  .extend(
    'push',
    { scope: 'file' },
    ({ app, tenant, issuer }) =>
      async (clientId: string, { key, kid }: Named): Promise<number> => {
        const assertion = await makeAssertion(key, { clientId, audience: issuer }, { header: { kid } })
        const { searchParams } = new URL(authorizePath(tenant, { id: clientId }), app.origin)
        searchParams.append('client_assertion_type', JWT_BEARER)
        searchParams.append('client_assertion', assertion)
        return (await app.fetch(`/${tenant}/oidc/par`, { method: 'POST', body: searchParams })).status
      },
  )

afterEach(() => {
  vi.useRealTimers()
})

describe('the keys at the jwksUri of a client', () => {
  test('verify its assertions, and are fetched once for concurrent requests', async ({ refer }) => {
    const key = await makeNamed('one')
    const { authenticate, countFetches } = await refer(key)
    const answers = await Promise.all(Array.from({ length: 8 }, () => authenticate(key)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect((await authenticate(key)).status).toBe(200)
    expect(countFetches()).toBe(1)
  })

  test('are fetched again for an unknown key, once a minute at most', async ({ refer }) => {
    const [one, two, three] = [await makeNamed('one'), await makeNamed('two'), await makeNamed('three')]
    const { authenticate, publish, countFetches } = await refer(one)
    expect((await authenticate(one)).status).toBe(200)
    publish(one, two)
    const rotated = await Promise.all([authenticate(two), authenticate(two), authenticate(one)])
    expect(rotated.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(countFetches()).toBe(2)
    publish(two, three)
    expect(await authenticate(three)).toMatchObject({ status: 401, body: INVALID_CLIENT })
    expect(countFetches()).toBe(2)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    expect((await authenticate(three)).status).toBe(200)
    expect(countFetches()).toBe(3)
  })

  test('that are not published reject the client, and are not asked for again within a minute', async ({
    documents,
    newClient,
    issuer,
    present,
    readDiagnostics,
  }) => {
    const jwksUri = `${documents.origin}/missing.json`
    const client = await newClient({ ...MACHINE, jwksUri })
    const { key } = await makeNamed('one')
    for (const _ of [1, 2]) {
      const answer = await present(await makeAssertion(key, { clientId: client.id, audience: issuer }))
      expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
      expect(await readDiagnostics(answer)).toMatchObject({
        reason: 'the keys of the client cannot be used: the host of jwksUri answers 404',
        jwks_uri: jwksUri,
        method: 'private_key_jwt',
      })
    }
    expect(documents.countRequests(jwksUri)).toBe(1)
  })

  test('stay in use while their host does not answer an assertion with an unknown key', async ({
    refer,
    documents,
  }) => {
    const [one, two] = [await makeNamed('one'), await makeNamed('two')]
    const { authenticate, countFetches } = await refer(one)
    expect((await authenticate(one)).status).toBe(200)
    const fetched = documents.paths().at(-1) ?? ''
    documents.republish(documents.origin + fetched, (response) => void response.writeHead(503).end())
    expect((await authenticate(two)).status).toBe(401)
    expect((await authenticate(one)).status).toBe(200)
    expect(countFetches()).toBe(2)
  })

  test.for(['registration', 'document'] as const)(
    'verify a client that names them by %s, and are fetched again once a minute at most',
    async (by, { documents, introduce, push }) => {
      const [one, two, three] = [await makeNamed('one'), await makeNamed('two'), await makeNamed('three')]
      const serve = (...named: Named[]) => serveKeys(toSet(...named))
      const jwksUri = documents.publish(serve(one), 'keys')
      const clientId = await introduce(by, jwksUri)
      const statuses = async (...named: Named[]) => {
        const found: number[] = []
        for (const each of named) found.push(await push(clientId, each))
        return found
      }
      expect(await statuses(one, one)).toEqual([201, 201])
      documents.republish(jwksUri, serve(one, two))
      expect(await statuses(two, three, three)).toEqual([201, 401, 401])
      expect(documents.countRequests(jwksUri)).toBe(2)
      documents.republish(jwksUri, serve(three))
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
      expect(await statuses(three, one)).toEqual([201, 401])
      expect(documents.countRequests(jwksUri)).toBe(3)
    },
  )

  test.for<[title: string, serve: Serve, reason: string]>([
    [
      'are larger than 64 KB',
      (response) => void response.end(JSON.stringify({ keys: [], x: 'x'.repeat(70_000) })),
      'more than 65536 bytes',
    ],
    [
      'redirect',
      (response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
      'redirects elsewhere',
    ],
    ['are no key set', (response) => void response.end('[]'), 'no key set'],
    ['are secret', serveKeys({ keys: [{ kty: 'oct', k: 'AA' }] }), 'no key that can be used'],
  ])(
    'that %s reject a client of open registration, with the reason in its event',
    async ([_title, serve, reason], { documents, introduce, push, events }) => {
      const clientId = await introduce('registration', documents.publish(serve, 'keys'))
      expect(await push(clientId, await makeNamed('one'))).toBe(401)
      const [rejection] = await events({ type: 'authorize.refused', subjectId: clientId })
      expect(rejection?.detail?.reason).toContain(reason)
      expect(documents.paths()).not.toContain('/elsewhere')
    },
  )
})
