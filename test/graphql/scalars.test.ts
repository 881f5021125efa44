import { GraphQLScalarType, isSpecifiedScalarType } from 'graphql'
import { describe, expect } from 'vitest'
import { errorOf, test } from '../support/graphql-test.ts'
import { namedTypes } from '../support/schema.ts'

const CREATE = `mutation ($input: CreateUserInput!) { result: createUser(input: $input) {
  __typename ... on ValidationError { fields { field } } ... on CreateUserPayload { user { phoneNumber email locale } }
} }`

describe('a scalar', () => {
  test('names the standard of its format', () => {
    const scalars = namedTypes.filter((type) => type instanceof GraphQLScalarType)
    const withoutStandard = scalars.filter(
      (scalar) => !isSpecifiedScalarType(scalar) && !scalar.specifiedByURL,
    )
    expect(withoutStandard.map(({ name }) => name)).toEqual(['JSONObject'])
  })

  test('of text leaves it to the operation to name every invalid member', async ({
    tenant,
    token,
    server,
  }) => {
    const input = {
      email: 'nonsense',
      phoneNumber: 'x',
      picture: 'javascript:alert(1)',
      locale: '!',
      birthdate: '2026-02-30',
      zoneinfo: 'Mars/Phobos',
    }
    const { body } = await server.post(tenant, token, CREATE, { input })
    const { __typename, fields } = body.data.result
    expect(__typename).toBe('ValidationError')
    expect(fields.map(({ field }: { field: string }) => field).sort()).toEqual(Object.keys(input).sort())
  })

  test('of text accepts every notation that REST accepts, and returns the stored one', async ({
    tenant,
    token,
    email,
    server,
  }) => {
    const address = email()
    const input = { email: ` ${address} `, phoneNumber: '079 123 45 67', locale: 'de_AT' }
    const { body } = await server.post(tenant, token, CREATE, { input })
    expect(body.data.result.user).toEqual({
      email: address,
      phoneNumber: '079 123 45 67',
      locale: 'de-AT',
    })
  })

  test('of text rejects a value that is not text', async ({ tenant, token, server }) => {
    const { status, body } = await server.post(tenant, token, CREATE, { input: { email: 7 } })
    expect([status, errorOf(body)?.message]).toEqual([
      400,
      expect.stringContaining('EmailAddress must be a string.'),
    ])
  })
})
