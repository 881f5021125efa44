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
  isRequiredInputField,
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

/** The input field for a member of the REST body. */
export const findInputField = (type: GraphQLInputObjectType, name: string): GraphQLInputField | undefined =>
  type.getFields()[name]

/** Whether the objects within a body have the members that their input types require. */
export function hasRequiredMembers(type: GraphQLInputType, value: unknown, isNested = false): boolean {
  const inner = getNullableType(type)
  if (isListType(inner))
    return !Array.isArray(value) || value.every((item) => hasRequiredMembers(inner.ofType, item, true))
  if (!isInputObjectType(inner) || typeof value !== 'object' || value === null) return true
  const members = value as Record<string, unknown>
  return Object.values(inner.getFields()).every((field) =>
    field.name in members
      ? hasRequiredMembers(field.type, members[field.name], true)
      : !isNested || !isRequiredInputField(field),
  )
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
  const input: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(body)) {
    const field = findInputField(type, name)
    const variable = field && toVariable(field.type, member)
    if (!variable) return undefined
    input[name] = variable.value
  }
  for (const name of Object.keys(type.getFields())) if (ids[name] && !(name in body)) input[name] = ids[name]
  return input
}
