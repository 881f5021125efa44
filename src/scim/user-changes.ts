import { isDeepStrictEqual } from 'node:util'
import type { Provisioner } from '../access/authenticate.ts'
import type { Ctx } from '../context/context.ts'
import { Forbidden, NotFound } from '../core/errors.ts'
import type { Tx } from '../database/handle.ts'
import { deleteMembership } from '../organizations/memberships.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'
import { updateUser } from '../users/users.ts'
import { type Json, readUser } from './attributes.ts'
import {
  findUserRows,
  toUserVersion,
  toWanted,
  toWritable,
  type UserRow,
  type Wanted,
} from './user-resource.ts'
import {
  getUser,
  isOwnAddress,
  join,
  joinTransaction,
  namingAttributes,
  type Precondition,
  requireOwnAddress,
  requireRoleControl,
  requireStorable,
  requireVersion,
  storeScimUser,
} from './users.ts'

/** The fields of a user that differ from what is wanted; those that the request leaves as `untouched` has them stay. */
function findChangedFields(
  row: UserRow,
  { profile }: Wanted,
  untouched: Partial<Wanted['profile']>,
): Record<string, string | null> {
  const changed: Record<string, string | null> = {}
  for (const [key, value] of Object.entries(profile)) {
    const name = key as keyof typeof profile
    if (value === undefined || value === row[name] || value === untouched[name]) continue
    if (name === 'email' && value !== null && toEmailKey(value) === row.emailKey) continue
    changed[name] = value
  }
  return changed
}

type Change = {
  fields: Record<string, string | null>
  active: boolean | undefined
  scim: Wanted['scim'] | null
}

/** What a request changes: nothing for one that is sent again. */
function computeChange(row: UserRow, user: Json, isReplacement: boolean): Change {
  const before = toWritable(row)
  const wanted = toWanted(user, isReplacement ? {} : before)
  requireStorable(wanted)
  const { userName, userNameKey, externalId, attributes } = wanted.scim
  const known = row.scim ?? { userName: before.userName, externalId: null, attributes: {} }
  const isKnown =
    known.userName === userName &&
    known.externalId === externalId &&
    isDeepStrictEqual(known.attributes, attributes)
  const isHidden = row.organizationId !== null && !row.membership && !wanted.active
  return {
    // Of a person whose membership has ended, an organization sees and changes only what it has given.
    fields: isHidden
      ? {}
      : findChangedFields(row, wanted, isReplacement ? {} : toWanted(before, before).profile),
    active: wanted.active === row.isActive ? undefined : wanted.active,
    scim: isKnown ? null : { userName, userNameKey, externalId, attributes },
  }
}

/** The context for the account of a member: it controls an account whose rights are all in this organization. */
async function toAccountCtx(
  tx: Tx,
  ctx: Ctx,
  organizationId: string,
  { id: userId, roles }: UserRow,
): Promise<Ctx> {
  const where = { tenantId: tx.tenant, userId }
  const elsewhere = await Promise.all([
    tx.prisma.membership.count({ where: { ...where, organizationId: { not: organizationId } } }),
    tx.prisma.userAppRole.count({ where }),
    tx.prisma.groupMember.count({ where: { ...where, organizationId: null } }),
  ])
  if (roles.length > 0 || elsewhere.some((count) => count > 0))
    throw new Forbidden('The address of a person who has rights outside of the organization is not changed.')
  return { ...ctx, scopes: new Set([...ctx.scopes, 'roles:write', 'organizations:write']) }
}

/** Changes the account. An organization changes those with an address of its proven domains, and leaves the others. */
async function changeAccount(
  tx: Tx,
  caller: Provisioner,
  row: UserRow,
  fields: Change['fields'],
  locked: boolean | undefined,
): Promise<void> {
  const { ctx, organizationId } = caller
  const input = {
    ...fields,
    ...(fields.email && { emailVerified: true }),
    ...(locked !== undefined && { locked }),
  }
  if (Object.keys(input).length === 0) return
  if (organizationId === null) {
    if (fields.email !== undefined || locked !== undefined) await requireRoleControl(tx, caller, row.roles)
    await updateUser(joinTransaction(ctx, tx), row.id, input)
    return
  }
  if (row.emailKey === null || !row.emailVerified || !(await isOwnAddress(tx, organizationId, row.emailKey)))
    return
  if (fields.email) await requireOwnAddress(tx, organizationId, fields.email)
  const accountCtx = fields.email ? await toAccountCtx(tx, ctx, organizationId, row) : ctx
  await updateUser(joinTransaction(accountCtx, tx), row.id, input)
}

async function applyChange(tx: Tx, caller: Provisioner, row: UserRow, change: Change): Promise<void> {
  const { ctx, organizationId } = caller
  const { fields, active, scim } = change
  const { id, membership } = row
  // The row of SCIM keeps a person whose membership ends.
  if (scim || (organizationId !== null && !row.scim && active !== undefined))
    await storeScimUser(tx, caller, id, scim ?? toWanted(toWritable(row)).scim)
  if (organizationId !== null && active === true) await join(tx, ctx, organizationId, id)
  await changeAccount(
    tx,
    caller,
    row,
    fields,
    organizationId === null && active !== undefined ? !active : undefined,
  )
  if (organizationId !== null && active === false && membership)
    await deleteMembership(joinTransaction(ctx, tx), membership.id)
}

/**
 * Changes a user as `change` says. A request that changes nothing takes no lock and writes nothing. Throws NotFound,
 * PreconditionFailed, ScimError, InvalidInput, Conflict and Forbidden.
 */
async function writeUser(
  caller: Provisioner,
  id: string,
  ifMatch: Precondition,
  toUser: (before: Json) => Json,
  isReplacement: boolean,
): Promise<UserRow> {
  const compute = (row: UserRow): Change | null => {
    requireVersion(ifMatch, toUserVersion(row))
    const change = computeChange(row, toUser(toWritable(row)), isReplacement)
    const isSame = Object.keys(change.fields).length === 0 && change.active === undefined && !change.scim
    return isSame ? null : change
  }
  const row = await getUser(caller, id)
  if (!compute(row)) return row
  return namingAttributes(() =>
    caller.ctx.db.transaction(async (tx) => {
      if (!(await lockUserRow(tx, id))) throw new NotFound('user')
      const locked = await getUser({ ...caller, ctx: joinTransaction(caller.ctx, tx) }, id)
      const change = compute(locked)
      if (!change) return locked
      await applyChange(tx, caller, locked, change)
      const [changed] = await findUserRows(tx, caller.organizationId, [id])
      if (!changed) throw new NotFound('user')
      return changed
    }),
  )
}

/** Replaces a user: attributes that are left out are unset, except the address and `active`. */
export function replaceUser(caller: Provisioner, id: string, body: unknown, ifMatch: Precondition) {
  const user = readUser(body)
  return writeUser(caller, id, ifMatch, () => user, true)
}

export const changeUser = (
  caller: Provisioner,
  id: string,
  patch: (before: Json) => Json,
  ifMatch: Precondition,
): Promise<UserRow> => writeUser(caller, id, ifMatch, patch, false)
