import { type GraphQLInputObjectType, type GraphQLObjectType, isNonNullType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { Prisma, type User } from '../../src/generated/prisma/client.ts'
import { toUserBody } from '../../src/users/user-body.ts'
import { ADDRESS_MEMBERS, toAddressColumn, UserCreate, UserPatch } from '../../src/users/users.fields.ts'
import { schema } from '../support/schema.ts'

describe('the members of a user', () => {
  /** The members of a user in their order, and those that only responses have. */
  const USER_MEMBERS = [
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
    'termsVersion',
    'termsAcceptedAt',
    'lastSeenAt',
    'updatedAt',
    'createdAt',
  ]
  const RESPONSE_ONLY = [
    'id',
    'lockedAt',
    'termsVersion',
    'termsAcceptedAt',
    'lastSeenAt',
    'updatedAt',
    'createdAt',
  ]
  const ADDRESS = ['formatted', 'streetAddress', 'locality', 'region', 'postalCode', 'country']
  const WRITABLE = USER_MEMBERS.filter((field) => !RESPONSE_ONLY.includes(field))

  /** The fields that only GraphQL has: roles, the id of an import, and lists of the user's objects. */
  const GRAPHQL_ONLY = [
    'roles',
    'appRoles',
    'groups',
    'permissions',
    'externalId',
    'sessions',
    'credentials',
    'idpUsers',
    'consents',
    'memberships',
    'organizations',
    'deletion',
    'signInLimits',
  ]

  const listFields = (type: string) =>
    Object.keys((schema.getType(type) as GraphQLObjectType | GraphQLInputObjectType).getFields())

  const ctx = { ...createPlatformCtx('demo'), scopes: new Set(['users:read_app_metadata'] as const) }
  const emptyUser = Object.fromEntries(
    Object.keys(Prisma.UserScalarFieldEnum).map((column) => [column, null]),
  ) as unknown as User

  test('are all in a REST response, in their order', () => {
    expect(Object.keys(toUserBody(ctx, emptyUser))).toEqual(USER_MEMBERS)
    expect(Object.values(toUserBody(ctx, emptyUser))).toEqual(USER_MEMBERS.map(() => null))
  })

  test('are the fields of the GraphQL type and of its input', () => {
    expect(
      listFields('User')
        .filter((field) => !GRAPHQL_ONLY.includes(field))
        .sort(),
    ).toEqual([...USER_MEMBERS].sort())
    expect(listFields('CreateUserInput').sort()).toEqual([...WRITABLE].sort())
  })

  test('are accepted by creations and updates', () => {
    expect(Object.keys(UserCreate.shape)).toEqual(WRITABLE)
    expect(Object.keys(UserPatch.shape).sort()).toEqual([...USER_MEMBERS, 'expectedUpdatedAt'].sort())
  })

  test('are all optional in a creation', () => {
    const { CreateUserInput } = schema.getTypeMap()
    const inputs = Object.values((CreateUserInput as GraphQLInputObjectType).getFields())
    expect(inputs.filter(({ type }) => isNonNullType(type))).toEqual([])
    expect(UserCreate.safeParse({}).success).toBe(true)
  })

  test('include an address with the same members on both surfaces', () => {
    expect(ADDRESS_MEMBERS).toEqual(ADDRESS)
    expect(listFields('Address').sort()).toEqual([...ADDRESS].sort())
    expect(listFields('AddressInput').sort()).toEqual([...ADDRESS].sort())
    const user = { ...emptyUser, [toAddressColumn('postalCode')]: '1010' }
    expect(Object.keys(toUserBody(ctx, user).address as object)).toEqual(ADDRESS)
  })
})
