import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLScalarType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'

/** The value of a variable for a JSON value of REST; undefined when the type has no such value. */
export function toVariable(type: GraphQLInputType, value: unknown): { value: unknown } | undefined {
  if (value === null) return isNonNullType(type) ? undefined : { value }
  const inner = getNullableType(type)
  if (isEnumType(inner)) {
    const found = inner.getValues().find((one) => one.value === value)
    return found && { value: found.name }
  }
  if (isListType(inner)) {
    if (!Array.isArray(value)) return undefined
    const items = value.map((item) => toVariable(inner.ofType, item))
    return items.includes(undefined) ? undefined : { value: items.map((item) => item?.value) }
  }
  if (isInputObjectType(inner)) return toInputObject(inner, value)
  return isOfScalar(inner as GraphQLScalarType, value) ? { value } : undefined
}

function isOfScalar(type: GraphQLScalarType, value: unknown): boolean {
  // GraphQL takes a whole number for an ID; JSON Schema has no type for both.
  if (type.name === 'ID' && typeof value === 'number') return false
  try {
    type.parseValue(value)
    return true
  } catch {
    return false
  }
}

function toInputObject(type: GraphQLInputObjectType, value: unknown): { value: object } | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const fields = type.getFields()
  const members = Object.entries(value).map(([name, member]) => {
    const field = fields[name]
    return field && ([name, toVariable(field.type, member)] as const)
  })
  if (members.some((member) => member?.[1] === undefined)) return undefined
  return { value: Object.fromEntries(members.map((member) => [member?.[0], member?.[1]?.value])) }
}

/** The input field for a member of the REST body: of the input of the mutation, or of its `fields`. */
export const findInputField = (type: GraphQLInputObjectType, name: string): GraphQLInputField | undefined =>
  type.getFields()[name] ?? findNestedType(type)?.getFields()[name]

function findNestedType(type: GraphQLInputObjectType): GraphQLInputObjectType | undefined {
  const nested = getNullableType(type.getFields().fields?.type)
  return isInputObjectType(nested) ? nested : undefined
}

/**
 * Converts a body to the input of the mutation about the objects with these ids; undefined when a member has
 * no value of its type.
 */
export function toInput(
  type: GraphQLInputObjectType,
  body: object,
  ids: Readonly<Record<string, string>>,
): object | undefined {
  const own: Record<string, unknown> = {}
  const nested: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(body)) {
    const field = findInputField(type, name)
    const variable = field && toVariable(field.type, member)
    if (!variable) return undefined
    const target = name in type.getFields() ? own : nested
    target[name] = variable.value
  }
  for (const name of Object.keys(type.getFields())) if (ids[name] && !(name in body)) own[name] = ids[name]
  return findNestedType(type) ? { ...own, fields: nested } : own
}
