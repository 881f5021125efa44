import type { Provisioner } from '../access/authenticate.ts'
import { shareRoles } from '../access/held-roles.sql.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { Conflict, type InvalidInput, NotFound } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import { toAppError } from '../core/to-app-error.ts'
import type { Tx } from '../database/handle.ts'
import { addMember, deleteMembership, getCallerId } from '../organizations/memberships.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { metadata, parseInput, requiredText, text } from '../schema/input-shapes.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'
import { toUserColumns } from '../users/user-body.ts'
import { UserCreate } from '../users/users.fields.ts'
import { createUserFromColumns, deleteUser } from '../users/users.ts'
import { readUser } from './attributes.ts'
import type { ScimQuery } from './requests.ts'
import { PreconditionFailed, ScimError } from './scim-errors.ts'
import {
  findUserRows,
  toAttributeName,
  toUserVersion,
  toWanted,
  type UserRow,
  type Wanted,
} from './user-resource.ts'
import { selectUserIds } from './users.sql.ts'

/** What is kept for the client of one user. */
const MAX_KEPT_BYTES = 16_384
const USER_NAME = requiredText(320)
const EXTERNAL_ID = text(255)

/** Requires what is stored beside the fields of a user. Throws ScimError invalidValue. */
export function requireStorable({ scim }: Wanted): void {
  const issues = (
    [
      ['userName', USER_NAME, scim.userName],
      ['externalId', EXTERNAL_ID.nullable(), scim.externalId],
      ['attributes', metadata, scim.attributes],
    ] as const
  ).flatMap(([name, shape, value]) => {
    const { error } = shape.safeParse(value)
    return error ? [`${name} ${error.issues[0]?.message}`] : []
  })
  if (issues.length === 0 && Buffer.byteLength(JSON.stringify(scim.attributes)) > MAX_KEPT_BYTES)
    issues.push(`The attributes that are kept have at most ${MAX_KEPT_BYTES} bytes`)
  if (issues.length > 0) throw new ScimError('invalidValue', `${issues.join('; ')}.`)
}

/** Runs a write. The issues of fields of the API name the attributes. */
export async function namingAttributes<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    const error = toAppError(thrown)
    for (const issue of (error as InvalidInput).fields) issue.field = toAttributeName(issue.field)
    throw error
  }
}

/** The context whose services write within a transaction. */
export const joinTransaction = (ctx: Ctx, tx: Tx): Ctx => ({ ...ctx, db: tx.join() })

/** A page of the users of the tenant, or of the organization, and the number of all that match. Throws ScimError. */
export async function listUsers(
  { ctx, organizationId }: Provisioner,
  { startIndex, count, ...query }: ScimQuery,
): Promise<{ rows: UserRow[]; total: number }> {
  const page = { organizationId, ...query, offset: query.after === null ? startIndex - 1 : 0, limit: count }
  const { ids, total } = await selectUserIds(ctx.db, page)
  return { rows: ids.length > 0 ? await findUserRows(ctx.db, organizationId, ids) : [], total }
}

/** Returns a user. Throws NotFound, also for one whom the caller does not provision. */
export async function getUser({ ctx, organizationId }: Provisioner, id: string): Promise<UserRow> {
  const [row] = await findUserRows(ctx.db, organizationId, [id])
  if (!row) throw new NotFound('user')
  return row
}

/** Requires that the client has all scopes of the roles of a user itself: SCIM gives it none to give. Throws Forbidden. */
export async function requireRoleControl(tx: Tx, { ctx, ownScopes }: Provisioner, roles: readonly string[]) {
  requireNoEscalation({ ...ctx, scopes: ownScopes }, getRoleScopes(await shareRoles(tx, roles)))
}

/** Whether an organization has proven the domain of an address. */
export async function isOwnAddress(tx: Tx, organizationId: string, emailKey: string): Promise<boolean> {
  const domain = emailKey.slice(emailKey.lastIndexOf('@') + 1)
  const where = { tenantId: tx.tenant, organizationId, domain, verifiedAt: { not: null } }
  return (await tx.prisma.organizationDomain.count({ where })) > 0
}

export async function requireOwnAddress(tx: Tx, organizationId: string, email: string | null | undefined) {
  const key = email ? toEmailKey(email) : null
  if (key === null)
    throw new ScimError('invalidValue', 'emails.value, or userName, must be an e-mail address.')
  if (!(await isOwnAddress(tx, organizationId, key)))
    throw new ScimError(
      'invalidValue',
      'emails.value must be an address of a domain that the organization has proven.',
    )
  return key
}

export const storeScimUser = (
  { prisma, tenant }: Tx,
  { organizationId }: Provisioner,
  userId: string,
  scim: Wanted['scim'],
) => {
  const key = { tenantId: tenant, ownerId: organizationId ?? '', userId }
  const attributes = scim.attributes as object
  return prisma.scimUser.upsert({
    where: { tenantId_ownerId_userId: key },
    create: { ...key, ...scim, attributes, organizationId },
    update: { ...scim, attributes, updatedAt: new Date() },
  })
}

const createTakenError = () => new Conflict([{ field: 'userName', description: 'is taken' }])

/** The account for a new user of an organization: that with the address, where its owner has proven it, or a new one. */
async function findOrCreateAccount(
  tx: Tx,
  ctx: Ctx,
  organizationId: string,
  wanted: Wanted,
): Promise<string> {
  const emailKey = await requireOwnAddress(tx, organizationId, wanted.profile.email)
  const present = await tx.prisma.user.findFirst({ where: { tenantId: tx.tenant, emailKey } })
  if (!present) return createAccount(tx, ctx, wanted)
  const [known] = await findUserRows(tx, organizationId, [present.id])
  if (known) throw createTakenError()
  // Somebody else may have made it in advance.
  if (!present.emailVerified)
    throw new Conflict(
      [],
      'There is an account with this address, whose owner has not proven the address yet.',
    )
  return present.id
}

async function createAccount(tx: Tx, ctx: Ctx, { profile }: Wanted, locked = false): Promise<string> {
  const given = Object.fromEntries(Object.entries(profile).filter(([, value]) => value != null))
  const columns = toUserColumns(
    parseInput(UserCreate, { ...given, ...(profile.email && { emailVerified: true }), locked }),
  )
  return (await createUserFromColumns(joinTransaction(ctx, tx), columns)).id
}

/**
 * Creates a user; an organization makes accounts for addresses of its proven domains, and makes an account that has proven such
 * an address its member. Throws ScimError, InvalidInput and Conflict.
 */
export async function createUser(caller: Provisioner, body: unknown): Promise<UserRow> {
  const { ctx, organizationId } = caller
  const wanted = toWanted(readUser(body))
  requireStorable(wanted)
  const isActive = wanted.active ?? true
  return namingAttributes(() =>
    ctx.db.transaction(async (tx) => {
      const filter = { op: 'eq', path: 'username', value: wanted.scim.userName } as const
      const query = {
        organizationId,
        filter,
        sortBy: null,
        descending: false,
        offset: 0,
        limit: 1,
        after: null,
      }
      if ((await selectUserIds(tx, query)).total > 0) throw createTakenError()
      const id =
        organizationId === null
          ? await createAccount(tx, ctx, wanted, !isActive)
          : await findOrCreateAccount(tx, ctx, organizationId, wanted)
      await storeScimUser(tx, caller, id, wanted.scim)
      if (organizationId !== null && isActive) await join(tx, ctx, organizationId, id)
      const [row] = await findUserRows(tx, organizationId, [id])
      if (!row) throw new NotFound('user')
      return row
    }),
  )
}

export const join = (tx: Tx, ctx: Ctx, organizationId: string, userId: string) =>
  addMember(tx, ctx, { organizationId, userId, joinedVia: 'scim', addedBy: getCallerId(ctx) })

export type Precondition = string | null

/** Throws PreconditionFailed for a version that If-Match does not name. */
export function requireVersion(ifMatch: Precondition, version: string): void {
  if (ifMatch === null || ifMatch.trim() === '*') return
  const toOpaque = (tag: string) => tag.trim().replace(/^W\//, '')
  if (!ifMatch.split(',').map(toOpaque).includes(toOpaque(version))) throw new PreconditionFailed()
}

/** Deletes a user of the tenant; of an organization, ends the membership and forgets what the client has given. */
export async function removeUser(caller: Provisioner, id: string, ifMatch: Precondition): Promise<void> {
  const { ctx, organizationId } = caller
  await ctx.db.transaction(async (tx) => {
    const joined = joinTransaction(ctx, tx)
    if (organizationId !== null) await lockUserRow(tx, id)
    const row = await getUser({ ...caller, ctx: joined }, id)
    requireVersion(ifMatch, toUserVersion(row))
    if (organizationId === null) {
      await requireRoleControl(tx, caller, row.roles)
      await deleteUser(joined, id)
      return
    }
    if (row.membership) await deleteMembership(joined, row.membership.id)
    await tx.prisma.scimUser.deleteMany({
      where: { tenantId: ctx.tenant, ownerId: organizationId, userId: id },
    })
  })
}
