import { type GraphQLUnionType, getNamedType, isLeafType } from 'graphql'
import { expect } from 'vitest'
import { buildSchema } from '../../src/graphql/schema.ts'
import type { Surfaces } from '../support/surfaces.ts'
import { allFieldsOf, asRest, neutral } from './compare.ts'
import type { World } from './world.ts'

const schema = buildSchema()

// biome-ignore lint/suspicious/noExplicitAny: the shape is what is being compared
export type Any = any
export type Rest = [method: string, path: string, body?: unknown]
/** A mutation by its input, or a query by its text; `read` makes REST's body of what it answers. */
export type Gql =
  | { mutation: string; input: object; read?: (payload: Any) => unknown }
  | { query: string; variables?: object; read: (data: Any) => unknown }
/** One call, in the words of both surfaces. Proofs of a provider work once, so that each call gets its own. */
export type Call = {
  title: string
  rest: (world: World) => Rest | Promise<Rest>
  gql: (world: World) => Gql | Promise<Gql>
}

export const GONE = 'gone'
/** What either surface came to. */
export type Outcome = { body: unknown } | { code: string; message?: string; fields?: unknown }

/** Makes the call over REST. */
export async function overRest(
  surfaces: Surfaces,
  { tenant, token }: World,
  [method, path, body]: Rest,
): Promise<Outcome> {
  const answer = await surfaces.rest(tenant, token, method, path, body)
  // Of what is gone REST tells in the shape of an error, GraphQL by its id.
  if (answer.status < 400) return { body: method === 'DELETE' ? GONE : answer.body }
  const { code, message, fields } = answer.body
  return { code, message, fields }
}

/** The mutation with everything that its payload, or its errors, hold. */
function documentOf(name: string): string {
  const field = schema.getMutationType()?.getFields()[name]
  if (!field) throw new Error(`no mutation ${name}`)
  const members = (field.type as GraphQLUnionType).getTypes().map((type) => {
    const selections = Object.values(type.getFields()).map(({ name: member, type: of }) => {
      const named = getNamedType(of)
      return isLeafType(named) ? member : `${member} { __typename ${allFieldsOf(named.name)} }`
    })
    return `... on ${type.name} { ${selections.join(' ')} }`
  })
  return `mutation($input: ${field.args[0]?.type}) { result: ${name}(input: $input) { __typename ${members.join(' ')} } }`
}

/** Values as REST has them, objects by their __typename. */
function restValues(value: Any): Any {
  if (Array.isArray(value)) return value.map(restValues)
  if (value === null || typeof value !== 'object') return value
  const { __typename: type, ...members } = value
  const plain = Object.fromEntries(Object.entries(members).map(([key, member]) => [key, restValues(member)]))
  return type && !/(Payload|Connection|Error)$/.test(type) ? asRest(type, plain) : plain
}

/** Makes the call over GraphQL, and says what it answers in the words of REST. */
export async function overGraphql(surfaces: Surfaces, { tenant, token }: World, call: Gql): Promise<Outcome> {
  const isMutation = 'mutation' in call
  const { body } = await surfaces.gql(
    tenant,
    token,
    isMutation ? documentOf(call.mutation) : call.query,
    isMutation ? { input: call.input } : call.variables,
  )
  const [error] = body.errors ?? []
  if (error) {
    const { code, fields = [] } = error.extensions
    return { code, message: error.message, fields }
  }
  const result = restValues(isMutation ? body.data.result : body.data)
  if (isMutation && 'code' in result) {
    const { code, message, fields = [] } = result
    return { code, message, fields }
  }
  const read = call.read ?? ((payload) => Object.values(payload)[0])
  const plain = read(result)
  // Nothing there is null in GraphQL, which has no status to say it by.
  return plain === null || plain === undefined ? { code: 'NOT_FOUND' } : { body: plain }
}

/** What REST says must be what GraphQL says; GraphQL may know more of it. */
export function expectAlike(
  rest: Outcome,
  graphql: Outcome,
  restTenant: string,
  graphqlTenant: string,
): void {
  const [left, right] = [neutral(restTenant, rest), neutral(graphqlTenant, graphql)] as [Any, Any]
  if (left.code === 'NOT_FOUND' && right.code === 'NOT_FOUND') return
  if (!('body' in left) || !('body' in right)) expect(right).toEqual(left)
  else if (left.body === GONE) expect(right.body).toBe(GONE)
  else expect(right.body).toMatchObject(left.body)
}
