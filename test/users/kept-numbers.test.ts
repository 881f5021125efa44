import { describe, expect } from 'vitest'
import { importUsers } from '../../src/users/transfer/import.ts'
import { invalidFields } from '../support/issues.ts'
import type { Json } from '../support/json.ts'
import { test } from '../support/user-writers.ts'

const NOT_KEPT = 'is a number that would not be kept exactly; send it as a string'
/** Every value as text, because JavaScript cannot write them. */
const CHANGED =
  '{"a":{"b":[1,2,9007199254740993]},"c":1e400,"d":0.12345678901234567890,"e":9007199254740992,"kept":"9007199254740993"}'
const EXPECTED = invalidFields(
  ['appMetadata.a.b.2', NOT_KEPT],
  ['appMetadata.c', NOT_KEPT],
  ['appMetadata.d', NOT_KEPT],
  ['appMetadata.e', NOT_KEPT],
)
const CREATE =
  'mutation ($input: CreateUserInput!) { createUser(input: $input) { ... on ValidationError { code message fields { field description } } } }'

describe('a number in metadata that would not be kept exactly', () => {
  test('is rejected with its path over REST, and nothing is stored', async ({ app, tenant, token, rest }) => {
    const answer = await fetch(`${app.origin}/${tenant}/api/v1/users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: `{"appMetadata":${CHANGED}}`,
    })
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining(EXPECTED)])
    expect((await rest('GET', '/users')).body.totalSize).toBe(0)
  })

  test.for<[where: string, body: (query: string) => string]>([
    [
      'a variable',
      (query) => `{"query":${JSON.stringify(query)},"variables":{"input":{"appMetadata":${CHANGED}}}}`,
    ],
    [
      'a literal',
      () =>
        JSON.stringify({
          query: `mutation { createUser(input: {appMetadata: ${CHANGED.replaceAll(/"(\w+)":/g, '$1:')}}) { ... on ValidationError { code message fields { field description } } } }`,
        }),
    ],
  ])('is rejected with its path in %s of GraphQL', async ([_where, toBody], { app, tenant, token }) => {
    const answer = await fetch(`${app.origin}/${tenant}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: toBody(CREATE),
    })
    const { data, errors } = (await answer.json()) as Json
    expect(errors).toBeUndefined()
    expect(data.createUser).toEqual(EXPECTED)
  })

  test('is rejected with its path in a line of an import', async ({ ctx }) => {
    const line = Buffer.from(`{"externalId":"n1","appMetadata":${CHANGED}}\n`)
    const results: Json[] = []
    for await (const part of importUsers(
      ctx,
      (async function* () {
        yield line
      })(),
    ))
      results.push(...part)
    expect(results[0]).toMatchObject({ line: 1, status: 'error', fields: EXPECTED.fields })
  })

  test('is rejected in a filter of GraphQL, also in a URL', async ({ app, tenant, token }) => {
    const url = new URL(`${app.origin}/${tenant}/graphql`)
    url.searchParams.set('query', 'query ($f: JSONObject) { users(filter: {appMetadata: $f}) { pageSize } }')
    url.searchParams.set('variables', '{"f":{"n":9007199254740993}}')
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    expect(((await answer.json()) as Json).errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'appMetadata.n' }],
    })
  })

  test('is text in a filter of REST, as it is stored', async ({ rest }) => {
    const { body } = await rest('POST', '/users', { appMetadata: { n: '9007199254740993' } })
    const found = await rest('GET', '/users?appMetadata.n=9007199254740993')
    expect(found.body.users.map(({ id }: Json) => id)).toEqual([body.id])
  })

  test('leaves the largest kept numbers as they are', async ({ rest }) => {
    const appMetadata = {
      max: Number.MAX_SAFE_INTEGER,
      min: Number.MIN_SAFE_INTEGER,
      pi: Math.PI,
      small: 5e-324,
    }
    expect((await rest('POST', '/users', { appMetadata })).body.appMetadata).toEqual(appMetadata)
  })
})
