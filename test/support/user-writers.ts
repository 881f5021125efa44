import type { Rest } from './calls.ts'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'

const ERRORS =
  '... on UserError { code message } ... on ValidationError { fields { field description } } ... on ConflictError { fields { field description } }'
/** Every field of a user that REST shows, as a GraphQL selection. */
export const USER_FIELDS = `id name givenName familyName middleName nickname preferredUsername profile picture website email emailVerified gender birthdate
  zoneinfo locale phoneNumber phoneNumberVerified locked lockedAt address { formatted streetAddress locality region postalCode country }
  userMetadata appMetadata termsVersion termsAcceptedAt lastSeenAt updatedAt createdAt`

/** `{ user }`, or `{ code, message, fields }`: the same from both surfaces. */
export type UserOutcome = Json
export type UserWriter = {
  create: (fields: object) => Promise<UserOutcome>
  update: (id: string, fields: object) => Promise<UserOutcome>
}
export const SURFACES = ['REST', 'GraphQL'] as const

/** Converts a REST response to the shape of GraphQL. */
export function toOutcome({ status, body }: Awaited<ReturnType<Rest>>): UserOutcome {
  if (status < 300) return { user: body }
  const { requestId: _, ...error } = body
  return error
}

/** With `writers`: the operations that write users, by surface. */
export const test = base.extend('writers', { scope: 'file' }, ({ rest, gql }) => {
  const mutate = async (field: string, type: string, input: object) => {
    const { body } = await gql(
      `mutation ($input: ${type}!) { result: ${field}(input: $input) { ... on ${type.replace('Input', 'Payload')} { user { ${USER_FIELDS} } } ${ERRORS} } }`,
      { input },
    )
    return body.data?.result ?? body
  }
  const writers: Record<(typeof SURFACES)[number], UserWriter> = {
    REST: {
      create: async (fields) => toOutcome(await rest('POST', '/users', fields)),
      update: async (id, fields) => toOutcome(await rest('PATCH', `/users/${id}`, fields)),
    },
    GraphQL: {
      create: (fields) => mutate('createUser', 'CreateUserInput', fields),
      update: (userId, fields) => mutate('updateUser', 'UpdateUserInput', { userId, ...fields }),
    },
  }
  return writers
})
