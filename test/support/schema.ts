import { type GraphQLField, isIntrospectionType, isObjectType, isSpecifiedScalarType } from 'graphql'
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
