import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isEnumType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql'
import type { AccessRuleExtensions } from '../../src/graphql/field-access.ts'
import { buildSchema } from '../../src/server/graphql-schema.ts'

/** The schema of the program. */
export const schema = buildSchema()

export type RootKind = 'query' | 'mutation' | 'subscription'
export type RootField = GraphQLField<unknown, unknown>

const roots = [
  ['query', schema.getQueryType()],
  ['mutation', schema.getMutationType()],
  ['subscription', schema.getSubscriptionType()],
] as const

/** Every root field, with a title for a table of tests: `query users`. */
export const rootFields: [title: string, kind: RootKind, field: RootField][] = roots.flatMap(([kind, type]) =>
  Object.values(type?.getFields() ?? {}).map((field): [string, RootKind, RootField] => [
    `${kind} ${field.name}`,
    kind,
    field,
  ]),
)

/** Every named type that the program defines. */
export const namedTypes = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
)

/** Every object type except the roots. */
export const objectTypes = namedTypes
  .filter(isObjectType)
  .filter((type) => !roots.some(([, root]) => root === type))

/** The access rule of a field or type; undefined when it declares none. */
export const findRule = ({ extensions }: { extensions: object }): Partial<AccessRuleExtensions>['rule'] =>
  (extensions as Partial<AccessRuleExtensions>).rule

const unwrap = (type: GraphQLOutputType): GraphQLOutputType => (isNonNullType(type) ? type.ofType : type)

/** Types of which REST omits the members that are unset. */
const OMITTING = ['CopiedClaims', 'SignUpFieldSchema']

/** A GraphQL value as REST writes it: enum values in their REST spelling. */
export function toRestValue(typeName: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  const { ...fields } = (schema.getType(typeName) as GraphQLObjectType).getFields()
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null || !OMITTING.includes(typeName))
      .map(([name, member]) => {
        const type = unwrap(fields[name]?.type as GraphQLOutputType)
        const named = getNamedType(type)
        const convert = (one: unknown) =>
          isEnumType(named)
            ? (named.getValue(String(one))?.value ?? one)
            : isObjectType(named)
              ? toRestValue(named.name, one)
              : one
        return [name, isListType(type) && Array.isArray(member) ? member.map(convert) : convert(member)]
      }),
  )
}
