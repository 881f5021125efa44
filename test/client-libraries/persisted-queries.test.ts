import { createHash } from 'node:crypto'
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { describe, expect } from 'vitest'
import { test } from './connection.ts'
import { CreateUserDocument, UsersDocument } from './operations.ts'

/** An Apollo Client that sends hashes first, and the requests that it sends. */
function createClient(url: string, headers: Record<string, string>, useGETForHashedQueries: boolean) {
  const sent: { method: string; hasHash: boolean; hasDocument: boolean }[] = []
  const http = new HttpLink({
    uri: url,
    headers,
    fetch: (input, init) => {
      const text = `${String(input)} ${String(init?.body ?? '')}`
      sent.push({
        method: init?.method ?? '',
        hasHash: text.includes('persistedQuery'),
        hasDocument: /[?"]query["=]/.test(text),
      })
      return fetch(input, init)
    },
  })
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const link = new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(http)
  return { client: new ApolloClient({ link, cache: new InMemoryCache() }), sent }
}

describe('automatic persisted queries of Apollo Client', () => {
  test.for([
    ['its media types', {}, false],
    ['application/json alone', { accept: 'application/json' }, false],
    ['its media types, and hashes sent by GET', {}, true],
    ['application/json alone, and hashes sent by GET', { accept: 'application/json' }, true],
  ] as const)(
    'fall back to documents, once for each client, with %s',
    async ([_what, accept, byGet], { connection, onTestFinished }) => {
      const { client, sent } = createClient(connection.url, { ...connection.headers, ...accept }, byGet)
      onTestFinished(() => client.stop())
      const variables = { first: 3 }
      const { data } = await client.query({ query: UsersDocument, variables })
      expect(data?.users?.edges).toHaveLength(3)
      const { data: created } = await client.mutate({
        mutation: CreateUserDocument,
        variables: { name: 'Ivo' },
      })
      expect(created?.createUser?.__typename).toBe('CreateUserPayload')
      expect(sent).toEqual([
        { method: byGet ? 'GET' : 'POST', hasHash: true, hasDocument: false },
        { method: 'POST', hasHash: false, hasDocument: true },
        { method: 'POST', hasHash: false, hasDocument: true },
      ])
    },
  )
})
