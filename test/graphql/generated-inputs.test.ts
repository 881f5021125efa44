import {
  type GraphQLInputObjectType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
} from 'graphql'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { API_KEY_LIFETIME_SECONDS } from '../../src/model/api-keys.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { findInputField, hasRequiredMembers, toInput } from '../support/graphql-inputs.ts'
import { bodyOperations, createObjects } from '../support/request-bodies.ts'
import {
  findDisagreements,
  listMembers,
  type Members,
  sampleMembers,
  setMember,
  type Variation,
} from '../support/request-members.ts'
import { schema } from '../support/schema.ts'
import { hasServices } from '../support/services.ts'
import { test as base } from '../support/tenant-per-test.ts'

/** Values of each member that are tried, of those that the document allows and of the others. */
const SAMPLE = 3

/** A rotation makes keys, which takes long; and only an operator creates tenants. */
const LEFT_OUT = ['rotateSigningKeys', 'createTenant']

const mutations = schema.getMutationType()?.getFields() ?? {}
const operations = bodyOperations.flatMap((operation) => {
  const type = getNullableType(mutations[operation.id]?.args[0]?.type)
  const isCompared = isInputObjectType(type) && !LEFT_OUT.includes(operation.id)
  return isCompared ? [[operation.id, { ...operation, type }] as const] : []
})

/** Accepted inputs are executed, so that each mutation has a tenant. */
const test = base.extend('ids', async ({ tenant }) => {
  await updateSettings(createPlatformCtx(tenant), { apiKeyLifetimeSeconds: API_KEY_LIFETIME_SECONDS.max })
  return createObjects(tenant)
})

/** The empty text, which unsets an enumeration in REST, is not a value of an enumeration in GraphQL. */
const isEmptyEnumeration = (type: GraphQLInputObjectType, { path, value }: Variation): boolean => {
  const field = findInputField(type, path[0] ?? '')
  return value === '' && isEnumType(getNamedType(field?.type))
}

describe.runIf(hasServices)('the input', () => {
  test.for(operations)(
    'of %s is rejected for exactly the members that the REST document rejects',
    async ([id, { schema: body, contract, example, type }], { gql, ids }) => {
      const isCoercible = (variation: Variation): boolean =>
        toInput(type, setMember({}, variation.path, variation.value) as object, ids) !== undefined
      // GraphQL rejects an object without a required member itself.
      const isComplete = (given: unknown): boolean => hasRequiredMembers(type, given)
      const all = [...listMembers(body, contract)].filter(([name]) =>
        findInputField(type, name.split('.')[0] ?? ''),
      )
      const lost = all
        .flatMap(([, variations]) => variations)
        .filter((one) => one.isAllowed && !isCoercible(one) && !isEmptyEnumeration(type, one))
      expect(lost).toEqual([])
      const members: Members = new Map(
        all.map(([name, variations]) => [
          name,
          variations.filter((one) => isCoercible(one) && isComplete(setMember(example, one.path, one.value))),
        ]),
      )
      const document = `mutation($input: ${type.name}!) {
        result: ${id}(input: $input) { ... on ValidationError { fields { field } } }
      }`
      const found = await findDisagreements(sampleMembers(members, SAMPLE), example, async (variation) => {
        if (!isComplete(variation)) return []
        const { body: answer } = await gql(document, { input: toInput(type, variation as object, ids) })
        expect(JSON.stringify(answer.errors ?? [])).not.toMatch(/GRAPHQL|Variable/)
        return [...(answer.data?.result?.fields ?? [])].map(({ field }: { field: string }) => field)
      })
      expect(found).toEqual([])
    },
  )
})
