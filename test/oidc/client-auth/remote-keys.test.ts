import { afterEach, describe, expect, vi } from 'vitest'
import { test as base, INVALID_CLIENT, MACHINE } from '../../support/client-assertions.ts'
import { startDocumentHost } from '../../support/client-documents.ts'
import { type ClientKey, makeAssertion, makeKey } from '../../support/proofs.ts'

type Named = { key: ClientKey; kid: string }

const makeNamed = async (kid: string): Promise<Named> => ({ key: await makeKey(), kid })
const toSet = (...named: Named[]) => ({ keys: named.map(({ key, kid }) => ({ ...key.jwk, kid })) })

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
        const serve = (set: object) => (response: import('node:http').ServerResponse) =>
          response.writeHead(200, { 'content-type': 'application/jwk-set+json' }).end(JSON.stringify(set))
        const jwksUri = documents.publish(serve(toSet(...published)), 'keys')
        const client = await newClient({ ...MACHINE, jwksUri })
        return {
          publish: (...named: Named[]) => documents.republish(jwksUri, serve(toSet(...named))),
          countFetches: () => documents.countRequests(jwksUri),
          authenticate: async ({ key, kid }: Named) =>
            present(await makeAssertion(key, { clientId: client.id, audience: issuer }, { header: { kid } })),
        }
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
})
