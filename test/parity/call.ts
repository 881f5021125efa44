import { type GraphQLUnionType, getNamedType, isLeafType } from 'graphql'
import { expect } from 'vitest'
import type { TestApp } from '../support/app.ts'
import type { Json } from '../support/json.ts'
import { schema, toRestValue } from '../support/schema.ts'
import { listFields, neutralize } from './compare.ts'
import type { Fixture } from './fixture.ts'

export type Rest = [method: string, path: string, body?: unknown]
/** A mutation by its input, or a query by its text. `read` converts the result to the REST body. */
export type Gql =
  | { mutation: string; input: object; read?: (payload: Json) => unknown }
  | { query: string; variables?: object; read: (data: Json) => unknown }
/**
 * One call on both surfaces, which makes its own request each time: a proof of an identity provider works
 * once.
 */
export type Call = {
  title: string
  rest: (fixture: Fixture) => Rest | Promise<Rest>
  gql: (fixture: Fixture) => Gql | Promise<Gql>
}

export const GONE = 'gone'
/** The outcome of a call on either surface. */
export type Outcome = { body: unknown } | { code: string; message?: string; fields?: unknown }

/** Makes the call over REST. */
export async function callRest(
  app: TestApp,
  { tenant, token }: Fixture,
  [method, path, body]: Rest,
): Promise<Outcome> {
  const answer = await app.rest(tenant, token, method, path, body)
  // A deletion is answered differently: REST has a message, GraphQL the id.
  if (answer.status < 400) return { body: method === 'DELETE' ? GONE : answer.body }
  const { code, message, fields } = answer.body
  return { code, message, fields }
}

/** A mutation that selects every field of its payload and errors. */
function toDocument(name: string): string {
  const field = schema.getMutationType()?.getFields()[name]
  if (!field) throw new Error(`no mutation ${name}`)
  const members = (field.type as GraphQLUnionType).getTypes().map((type) => {
    const selections = Object.values(type.getFields()).map(({ name: member, type: of }) => {
      const named = getNamedType(of)
      return isLeafType(named) ? member : `${member} { __typename ${listFields(named.name)} }`
    })
    return `... on ${type.name} { ${selections.join(' ')} }`
  })
  return `mutation($input: ${field.args[0]?.type}) { result: ${name}(input: $input) { __typename ${members.join(' ')} } }`
}

/** Converts values to those of REST, objects by their __typename. */
function toRestValues(value: Json): Json {
  if (Array.isArray(value)) return value.map(toRestValues)
  if (value === null || typeof value !== 'object') return value
  const { __typename: type, ...members } = value
  const plain = Object.fromEntries(
    Object.entries(members).map(([key, member]) => [key, toRestValues(member)]),
  )
  return type && !/(Payload|Connection|Error)$/.test(type) ? toRestValue(type, plain) : plain
}

/** Makes the call over GraphQL and converts the result to that of REST. */
export async function callGraphql(app: TestApp, { tenant, token }: Fixture, call: Gql): Promise<Outcome> {
  const isMutation = 'mutation' in call
  const { body } = await app.gql(
    tenant,
    token,
    isMutation ? toDocument(call.mutation) : call.query,
    isMutation ? { input: call.input } : call.variables,
  )
  const [error] = body.errors ?? []
  if (error) {
    const { code, fields = [] } = error.extensions
    return { code, message: error.message, fields }
  }
  const result = toRestValues(isMutation ? body.data.result : body.data)
  if (isMutation && 'code' in result) {
    const { code, message, fields = [] } = result
    return { code, message, fields }
  }
  const read = call.read ?? ((payload) => Object.values(payload)[0])
  const plain = read(result)
  // A missing object is null in GraphQL and 404 in REST.
  return plain === null || plain === undefined ? { code: 'NOT_FOUND' } : { body: plain }
}

/** Expects the same outcome. GraphQL may return more members than REST. */
export function expectAlike(
  rest: Outcome,
  graphql: Outcome,
  restTenant: string,
  graphqlTenant: string,
): void {
  const [left, right] = [neutralize(restTenant, rest), neutralize(graphqlTenant, graphql)] as [Json, Json]
  if (left.code === 'NOT_FOUND' && right.code === 'NOT_FOUND') return
  if (!('body' in left) || !('body' in right)) expect(right).toEqual(left)
  else if (left.body === GONE) expect(right.body).toBe(GONE)
  else expect(right.body).toMatchObject(left.body)
}
