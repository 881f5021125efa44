import { isDeepStrictEqual } from 'node:util'
import { issuerOf } from '../core/issuer.ts'
import type { Db } from '../database/handle.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { ENTERPRISE_SCHEMA, type Json, USER_SCHEMA } from './attributes.ts'
import { toUserNameKey } from './users.sql.ts'

const include = (ownerId: string, organizationId: string | null) =>
  ({
    scimUsers: { where: { ownerId } },
    memberships: { where: { organizationId: organizationId ?? '' } },
    groups: { where: { organizationId }, select: { group: { select: { id: true, name: true } } } },
  }) satisfies Prisma.UserInclude
/** Large values that no attribute has. */
const OMITTED = { userMetadata: true, appMetadata: true } as const
type Loaded = Prisma.UserGetPayload<{ include: ReturnType<typeof include>; omit: typeof OMITTED }>

/** A user as a SCIM client sees it. */
export type UserRow = Omit<Loaded, 'scimUsers' | 'memberships'> & {
  scim: Loaded['scimUsers'][number] | null
  membership: Loaded['memberships'][number] | null
  organizationId: string | null
  isActive: boolean
}

/** The users with these ids, of an organization only its members and those whose membership a client has ended. */
export async function findUserRows(
  db: Db,
  organizationId: string | null,
  ids: readonly string[],
): Promise<UserRow[]> {
  const users = await db.prisma.user.findMany({
    where: { tenantId: db.tenant, id: { in: [...ids] } },
    include: include(organizationId ?? '', organizationId),
    omit: OMITTED,
  })
  const byId = new Map(users.map((user) => [user.id, user]))
  return ids.flatMap((id) => {
    const user = byId.get(id)
    if (!user) return []
    const { scimUsers, memberships, ...rest } = user
    const [scim = null] = scimUsers
    const [membership = null] = memberships
    if (organizationId !== null && !scim && !membership) return []
    const isActive = organizationId === null ? !user.locked : membership !== null
    return [{ ...rest, scim, membership, organizationId, isActive }]
  })
}

/** The fields of a user that attributes are stored in: those of the API, which checks them. */
const FIELDS = {
  givenName: ['name', 'givenName'],
  familyName: ['name', 'familyName'],
  middleName: ['name', 'middleName'],
  nickname: ['nickName'],
  profile: ['profileUrl'],
  zoneinfo: ['timezone'],
} as const
type Field = keyof typeof FIELDS | 'name' | 'locale' | 'email'
const ATTRIBUTES: Record<string, string> = {
  ...Object.fromEntries(Object.entries(FIELDS).map(([field, path]) => [field, path.join('.')])),
  name: 'displayName',
  email: 'emails.value',
}
/** The attribute that a field of a user comes from. */
export const toAttributeName = (field: string): string => ATTRIBUTES[field] ?? field

/** Attributes that are kept for the client alone. */
const KEPT = ['title', 'userType', 'phoneNumbers', 'addresses', ENTERPRISE_SCHEMA]
const KEPT_NAMES = ['honorificPrefix', 'honorificSuffix']

const read = (object: Json, [name = '', sub]: readonly string[]): string | undefined =>
  (sub ? (object[name] as Json | undefined)?.[sub] : object[name]) as string | undefined

const omitEmpty = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null))

/** The attributes that clients write, as they are now. Of a person whose membership has ended, only what the client has given. */
export function toWritable(row: UserRow): Json {
  const { scim } = row
  const kept = (scim?.attributes ?? {}) as Json
  const { name: keptName, ...others } = kept
  const given = {
    userName: scim?.userName ?? row.email ?? row.id,
    externalId: scim?.externalId,
    active: row.isActive,
    ...others,
  }
  if (row.organizationId !== null && !row.membership) return omitEmpty({ ...given, name: keptName })
  const name = omitEmpty({
    formatted: row.name,
    familyName: row.familyName,
    givenName: row.givenName,
    middleName: row.middleName,
    ...(keptName as Json | undefined),
  })
  return omitEmpty({
    ...given,
    name: Object.keys(name).length > 0 ? name : undefined,
    displayName: row.name,
    nickName: row.nickname,
    profileUrl: row.profile,
    preferredLanguage: row.locale,
    locale: row.locale,
    timezone: row.zoneinfo,
    emails: row.email === null ? undefined : [{ value: row.email, type: 'work', primary: true }],
  })
}

const latest = (...dates: (Date | undefined)[]): Date =>
  new Date(Math.max(...dates.map((date) => date?.getTime() ?? 0)))

/** The weak entity tag of a user: it changes with each attribute that clients write. */
export const toUserVersion = ({ updatedAt, scim, membership, isActive }: UserRow): string =>
  `W/"${[updatedAt, scim?.updatedAt, membership?.updatedAt].map((date) => date?.getTime().toString(36) ?? '').join('-')}-${isActive ? 1 : 0}"`

export const toUserLocation = (tenant: string, id: string): string =>
  `${issuerOf(tenant)}/scim/v2/Users/${id}`
export const toGroupLocation = (tenant: string, id: string): string =>
  `${issuerOf(tenant)}/scim/v2/Groups/${id}`

/** A user as responses have it. */
export function toUserResource(row: UserRow): Json {
  const writable = toWritable(row)
  return {
    schemas: [USER_SCHEMA, ...(ENTERPRISE_SCHEMA in writable ? [ENTERPRISE_SCHEMA] : [])],
    id: row.id,
    ...writable,
    groups: row.groups.map(({ group }) => ({
      value: group.id,
      $ref: toGroupLocation(row.tenantId, group.id),
      display: group.name,
      type: 'direct',
    })),
    meta: {
      resourceType: 'User',
      created: row.createdAt.toISOString(),
      lastModified: latest(row.updatedAt, row.scim?.updatedAt, row.membership?.updatedAt).toISOString(),
      location: toUserLocation(row.tenantId, row.id),
      version: toUserVersion(row),
    },
  }
}

/** The address that counts of several: the primary one, then the one of type work, then the first. */
function selectEmail(user: Json): string | undefined {
  const emails = (user.emails ?? []) as { value?: string; type?: string; primary?: boolean }[]
  const given = emails.filter(({ value }) => value)
  return (given.find((one) => one.primary) ?? given.find((one) => one.type === 'work') ?? given[0])?.value
}

/** A text of two attributes: the one that changed counts, and the first otherwise. */
const selectText = (wanted: Json, before: Json, ...paths: (readonly string[])[]): string | undefined =>
  paths
    .map((path) => (read(wanted, path) !== read(before, path) ? read(wanted, path) : undefined))
    .find(Boolean) ?? paths.map((path) => read(wanted, path)).find(Boolean)

/** What clients write, in the terms of the columns. */
export type Wanted = {
  profile: Record<Field, string | null | undefined>
  scim: { userName: string; userNameKey: string; externalId: string | null; attributes: Json }
  active: boolean | undefined
}

/** The columns of what a client wants; `before` is empty for a new user and for a replacement. */
export function toWanted(user: Json, before: Json = {}): Wanted {
  const userName = String(user.userName ?? '')
  const name = (user.name ?? {}) as Json
  const keptName = omitEmpty(Object.fromEntries(KEPT_NAMES.map((one) => [one, name[one]])))
  const joined = [name.givenName, name.familyName].filter(Boolean).join(' ')
  const isRenamed = userName !== before.userName && isDeepStrictEqual(user.emails, before.emails)
  const email = selectEmail(user)
  const isDerived =
    email === undefined || (isRenamed && toEmailKey(email) === toEmailKey(String(before.userName ?? '')))
  return {
    profile: {
      ...(Object.fromEntries(
        Object.entries(FIELDS).map(([field, path]) => [field, read(user, path) ?? null]),
      ) as Record<keyof typeof FIELDS, string | null>),
      name: selectText(user, before, ['displayName'], ['name', 'formatted']) ?? (joined || null),
      locale: selectText(user, before, ['locale'], ['preferredLanguage'])?.replaceAll('_', '-') ?? null,
      // An address stays until there is another one.
      email: (isDerived && toEmailKey(userName) !== null ? userName : email) ?? undefined,
    },
    scim: {
      userName,
      userNameKey: toUserNameKey(userName),
      externalId: (user.externalId as string | undefined) ?? null,
      attributes: omitEmpty({
        ...Object.fromEntries(KEPT.map((one) => [one, user[one]])),
        name: Object.keys(keptName).length > 0 ? keptName : undefined,
      }),
    },
    active: user.active as boolean | undefined,
  }
}
