import { type GraphQLInputObjectType, type GraphQLObjectType, isNonNullType } from 'graphql'
import { describe, expect, it } from 'vitest'
import { platformCtx } from '../../src/ctx.ts'
import { Prisma, type User } from '../../src/generated/prisma/client.ts'
import { buildSchema } from '../../src/graphql/schema.ts'
import { toUser } from '../../src/users/user-body.ts'
import { ADDRESS_MEMBERS, addressColumn, UserCreate, UserPatch } from '../../src/users/users.fields.ts'

/** The table "User" of the specification: its fields in their order, and which are marked response only. */
const SPEC_USER = [
  'id',
  'name',
  'givenName',
  'familyName',
  'middleName',
  'nickname',
  'preferredUsername',
  'profile',
  'picture',
  'website',
  'email',
  'emailVerified',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'phoneNumber',
  'phoneNumberVerified',
  'locked',
  'lockedAt',
  'address',
  'userMetadata',
  'appMetadata',
  'lastSeenAt',
  'updatedAt',
  'createdAt',
]
const SPEC_RESPONSE_ONLY = ['id', 'lockedAt', 'lastSeenAt', 'updatedAt', 'createdAt']
const SPEC_ADDRESS = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country']
const SPEC_WRITABLE = SPEC_USER.filter((field) => !SPEC_RESPONSE_ONLY.includes(field))

/** What GraphQL adds to a user: roles, the identifier of an import, and lists of what belongs to them. */
const GRAPHQL_ONLY = ['roles', 'externalId', 'sessions', 'credentials', 'idpUsers', 'consents']

const schema = buildSchema()
const fieldsOf = (type: string) =>
  Object.keys((schema.getType(type) as GraphQLObjectType | GraphQLInputObjectType).getFields())

const ctx = { ...platformCtx('demo'), scopes: new Set(['users:read_app_metadata'] as const) }
const emptyUser = Object.fromEntries(
  Object.keys(Prisma.UserScalarFieldEnum).map((column) => [column, null]),
) as unknown as User

describe('User of the specification', () => {
  it('is what REST answers, in its order, with every field present', () => {
    expect(Object.keys(toUser(ctx, emptyUser))).toEqual(SPEC_USER)
    expect(Object.values(toUser(ctx, emptyUser))).toEqual(SPEC_USER.map(() => null))
  })

  it('is the GraphQL type, and its input', () => {
    expect(
      fieldsOf('User')
        .filter((field) => !GRAPHQL_ONLY.includes(field))
        .sort(),
    ).toEqual([...SPEC_USER].sort())
    expect(fieldsOf('UserFieldsInput').sort()).toEqual([...SPEC_WRITABLE].sort())
  })

  it('is what creations and changes take', () => {
    expect(Object.keys(UserCreate.shape)).toEqual(SPEC_WRITABLE)
    expect(Object.keys(UserPatch.shape).sort()).toEqual([...SPEC_USER, 'expectedUpdatedAt'].sort())
  })

  it('has no required field on creation', () => {
    const { UserFieldsInput } = schema.getTypeMap()
    const inputs = Object.values((UserFieldsInput as GraphQLInputObjectType).getFields())
    expect(inputs.filter(({ type }) => isNonNullType(type))).toEqual([])
    expect(UserCreate.safeParse({}).success).toBe(true)
  })

  it('has the address of the specification', () => {
    expect(ADDRESS_MEMBERS).toEqual(SPEC_ADDRESS)
    expect(fieldsOf('Address').sort()).toEqual([...SPEC_ADDRESS].sort())
    expect(fieldsOf('AddressInput').sort()).toEqual([...SPEC_ADDRESS].sort())
    const user = { ...emptyUser, [addressColumn('postalCode')]: '1010' }
    expect(Object.keys(toUser(ctx, user).address as object)).toEqual(SPEC_ADDRESS)
  })
})
