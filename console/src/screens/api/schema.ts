import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql'
import text from '../../../../schema.graphql?raw'

/** The schema of the build, with its descriptions. */
export const SCHEMA = buildSchema(text, { assumeValid: true, noLocation: true })

export type SchemaMember = GraphQLField<unknown, unknown> | GraphQLInputField | GraphQLEnumValue

export const TYPES = Object.values(SCHEMA.getTypeMap())
  .filter(({ name }) => !name.startsWith('__'))
  .sort((a, b) => a.name.localeCompare(b.name))

/** The fields of a type, or the values of an enum. */
export const listMembers = (type: GraphQLNamedType): readonly SchemaMember[] =>
  isObjectType(type) || isInterfaceType(type) || isInputObjectType(type)
    ? Object.values(type.getFields())
    : isEnumType(type)
      ? type.getValues()
      : []

export const listArguments = (member: SchemaMember): readonly GraphQLArgument[] =>
  'args' in member ? member.args : []

/** The types that an object of a type may have instead of it: those of a union or of an interface. */
export const listPossibleTypes = (type: GraphQLNamedType): readonly GraphQLNamedType[] =>
  isUnionType(type) || isInterfaceType(type) ? SCHEMA.getPossibleTypes(type) : []

/** The types whose fields have a type or take it. */
export const listUses = (type: GraphQLNamedType): readonly { owner: string; member: string }[] =>
  TYPES.flatMap((owner) =>
    listMembers(owner)
      .filter(
        (member) =>
          ('type' in member && getNamedType(member.type) === type) ||
          listArguments(member).some((argument) => getNamedType(argument.type) === type),
      )
      .map(({ name }) => ({ owner: owner.name, member: name })),
  )

const MAX_FOUND = 100

/** Types and members by a part of their name, those that begin with it first, then by words of their descriptions. */
export function searchSchema(search: string): readonly { owner: string; member: string | null }[] {
  const sought = search.toLowerCase()
  const rank = (name: string, description: string | null | undefined): number => {
    const place = name.toLowerCase().indexOf(sought)
    if (place >= 0) return Math.min(place, 1)
    return description?.toLowerCase().includes(sought) ? 2 : 3
  }
  return TYPES.flatMap((type) => [
    { owner: type.name, member: null, rank: rank(type.name, type.description) },
    ...listMembers(type).map(({ name, description }) => ({
      owner: type.name,
      member: name,
      rank: rank(name, description),
    })),
  ])
    .filter((found) => found.rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_FOUND)
}
