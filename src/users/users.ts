import { requireAccountControl } from '../access/account-control.ts'
import { shareRoles } from '../access/held-roles.sql.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import { voidPreparedAccess } from '../access/revocation/revocation.sql.ts'
import { createRevocationEvents, revokeAccess } from '../access/revocation/revocation.ts'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import type { FieldIssue } from '../core/errors.ts'
import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import { toAppError } from '../core/to-app-error.ts'
import type { Db, Tx } from '../database/handle.ts'
import type { NewEvent } from '../events/create-event.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { UserOrigin } from '../events/types.ts'
import type { Prisma, User } from '../generated/prisma/client.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { assertExpectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { toPhoneNumberKey } from '../schema/phone-numbers.ts'
import { responseOnlyIssues } from '../schema/response-only.ts'
import { lockUserForDelete } from './lock-user.sql.ts'
import type { UserColumns } from './user-body.ts'
import { toChangedFields, toUserColumns } from './user-body.ts'
import {
  EmailLookup,
  findVerificationIssues,
  PhoneNumberLookup,
  RESPONSE_ONLY_FIELDS,
  splitResponseOnly,
  UserCreate,
  UserPatch,
} from './users.fields.ts'
import {
  deleteUserRow,
  insertUserRow,
  selectConflicts,
  UNIQUE_FIELDS,
  type UpdatedUser,
  updateUserRow,
} from './users.sql.ts'

/** Throws NotFound for a malformed user id, without a database lookup. */
function assertUserId(id: string): void {
  if (readIdPrefix(id) !== 'user') throw new NotFound('user')
}

/** Runs a write. A violated unique index becomes a Conflict that names every taken address. */
async function translateConflicts<T>(
  ctx: Ctx,
  columns: UserColumns,
  id: string | null,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    const error = toAppError(thrown)
    if (error === thrown || !(error instanceof Conflict)) throw thrown
    // The violated index names one field; others may be taken too.
    const taken = await selectConflicts(ctx.db, columns, id)
    const fields = UNIQUE_FIELDS.filter(
      (field) => taken[field] || error.fields.some((issue) => issue.field === field),
    )
    throw new Conflict(
      fields.map((field) => ({ field, description: 'is taken by another user' })),
      error.message,
    )
  }
}

/**
 * Writes a user and its events inside the caller's transaction: two statements. Wake the readers after the
 * commit.
 */
export async function insertUserWithEvents(
  tx: Db,
  ctx: Ctx,
  columns: UserColumns,
  { id = newId('user'), origin = null }: { id?: string; origin?: UserOrigin } = {},
): Promise<User> {
  const user = await insertUserRow(tx, id, columns)
  await recordEvents(tx, ctx, createUserCreationEvents(user, origin))
  return user
}

/** Creates a user. Throws InvalidInput, or Conflict that names the taken addresses. */
export const createUser = async (ctx: Ctx, input: unknown): Promise<User> =>
  createUserFromColumns(ctx, toUserColumns(parseInput(UserCreate, input)))

/** Creates a user from valid columns in one transaction. Throws Conflict that names the taken fields. */
export async function createUserFromColumns(ctx: Ctx, columns: UserColumns): Promise<User> {
  return translateConflicts(ctx, columns, null, () =>
    ctx.db.transaction((tx) => insertUserWithEvents(tx, ctx, columns)),
  )
}

/** Relations that Prisma reads besides the columns, such as the sessions that a GraphQL query selects. */
export type UserQuery = Pick<Prisma.UserFindManyArgs, 'include' | 'select'>

/** Returns the user with an id. Throws NotFound. */
export async function getUser(ctx: Ctx, id: string, query: UserQuery = {}): Promise<User> {
  assertUserId(id)
  const user = await ctx.db.prisma.user.findUnique({
    ...query,
    where: { tenantId_id: { tenantId: ctx.tenant, id } },
  })
  if (!user) throw new NotFound('user')
  return user
}

/** Returns the user with an e-mail address, in any spelling. Throws InvalidInput and NotFound. */
export async function getUserByEmail(ctx: Ctx, email: unknown, query: UserQuery = {}): Promise<User> {
  const emailKey = toEmailKey(parseInput(EmailLookup, { email }).email)
  const user = await ctx.db.prisma.user.findFirst({ ...query, where: { tenantId: ctx.tenant, emailKey } })
  if (!user) throw new NotFound('user')
  return user
}

/** Returns the user with a phone number, in any notation. Throws InvalidInput and NotFound. */
export async function getUserByPhoneNumber(
  ctx: Ctx,
  phoneNumber: unknown,
  query: UserQuery = {},
): Promise<User> {
  const phoneNumberKey = toPhoneNumberKey(parseInput(PhoneNumberLookup, { phoneNumber }).phoneNumber)
  const where = { tenantId: ctx.tenant, phoneNumberKey }
  const user = await ctx.db.prisma.user.findFirst({ ...query, where })
  if (!user) throw new NotFound('user')
  return user
}

/**
 * Columns by which the account can be taken over. externalId is one of them, because an import changes the
 * address of the user that it finds by externalId.
 */
const CONTROL_COLUMNS = [
  'externalId',
  'email',
  'emailKey',
  'emailVerified',
  'phoneNumber',
  'phoneNumberKey',
  'phoneNumberVerified',
]
/** Columns that control access to the account otherwise. */
const ACCESS_COLUMNS = ['locked', 'roles']

type EventUser = Pick<User, 'id' | 'locked' | 'roles'>

/** The events of a new user. */
export const createUserCreationEvents = (user: EventUser, origin: UserOrigin = null): NewEvent[] => [
  createEvent('user.created', { userId: user.id }, origin),
  ...createUserChangeEvents({
    user,
    changed: [...(user.locked ? ['locked'] : []), ...(user.roles.length > 0 ? ['roles'] : [])],
  }),
]

/**
 * The events of an update. A lock is its own event (`user.locked`) and precedes the events of the sessions
 * that it ends.
 */
export function createUserChangeEvents({
  user,
  changed,
}: {
  user: EventUser
  changed: string[]
}): NewEvent[] {
  const changedFields = toChangedFields(changed.filter((column) => column !== 'locked' && column !== 'roles'))
  const events: NewEvent[] = []
  if (changedFields.length > 0) events.push(createEvent('user.updated', { userId: user.id, changedFields }))
  if (changed.includes('roles'))
    events.push(createEvent('role.changed', { userId: user.id }, { roles: user.roles.join(' ') }))
  if (changed.includes('locked'))
    events.push(createEvent(user.locked ? 'user.locked' : 'user.unlocked', { userId: user.id }))
  return events
}

/**
 * Updates columns of a user in one transaction, with all consequences: a lock ends all access. An update
 * without a difference changes neither updatedAt nor the event log. `check` gets the new and the old row, and
 * may throw to reject the update. Throws NotFound, Conflict, InvalidInput (a verified flag without its
 * address), and Forbidden when the update controls access to the account of a user whose roles permit more
 * than the caller's scopes, or changes an address of a user whom the caller does not control.
 */
export async function changeUser(
  ctx: Ctx,
  id: string,
  columns: UserColumns,
  check: (updated: UpdatedUser, tx: Tx) => FieldIssue[] | Promise<FieldIssue[]> = () => [],
): Promise<User> {
  assertUserId(id)
  const { user } = await translateConflicts(ctx, columns, id, () =>
    ctx.db.transaction(async (tx) => {
      const updated = await updateUserRow(tx, id, columns)
      if (!updated) throw new NotFound('user')
      const issues = [...(await check(updated, tx)), ...findVerificationIssues(updated.user)]
      if (issues.length > 0) throw new InvalidInput(issues)
      const { changed, before } = updated
      if (changed.some((column) => CONTROL_COLUMNS.includes(column)))
        await requireAccountControl(tx, ctx, { id, roles: await shareRoles(tx, before.roles) })
      else if (changed.some((column) => ACCESS_COLUMNS.includes(column)))
        requireNoEscalation(ctx, getRoleScopes(await shareRoles(tx, before.roles)))
      const events = createUserChangeEvents(updated)
      if (updated.user.locked && updated.changed.includes('locked'))
        await revokeAccess(tx, ctx, { kind: 'user', userId: id }, 'locked', { before: events })
      else await recordEvents(tx, ctx, events)
      if (updated.changed.includes('roles')) await voidPreparedAccess(tx, id)
      return updated
    }),
  )
  return user
}

/**
 * Updates a user: omitted fields are unchanged, null and, for text, '' unset, the address is merged member by member,
 * metadata objects are replaced; read-only fields are ignored with their returned value. `locked: true` locks
 * like lockUser. Throws Conflict when the user has changed since `expectedUpdatedAt`, and otherwise like
 * changeUser.
 */
export async function updateUser(ctx: Ctx, id: string, input: unknown): Promise<User> {
  const {
    written: { expectedUpdatedAt: _, ...fields },
    echoed,
  } = splitResponseOnly(parseInput(UserPatch, input))
  return changeUser(ctx, id, toUserColumns(fields), (updated) => {
    assertExpectedUpdatedAt(input, updated.before.updatedAt)
    return responseOnlyIssues(RESPONSE_ONLY_FIELDS, echoed, { ...updated.user, ...updated.before })
  })
}

/**
 * Locks a user: ends sessions, grants, codes and unused passcodes. A locked user stays locked. Throws like
 * changeUser.
 */
export const lockUser = (ctx: Ctx, id: string): Promise<User> => changeUser(ctx, id, { locked: true })

/** Unlocks a user. Throws like changeUser. */
export const unlockUser = (ctx: Ctx, id: string): Promise<User> => changeUser(ctx, id, { locked: false })

/**
 * Deletes a user and all data of the user permanently, and ends the sessions. Throws NotFound, and Forbidden
 * for a user whose roles permit more than the caller's scopes.
 */
export async function deleteUser(ctx: Ctx, id: string): Promise<{ deletedUserId: string }> {
  assertUserId(id)
  await ctx.db.transaction(async (tx) => {
    const user = await lockUserForDelete(tx, id)
    if (!user) throw new NotFound('user')
    requireNoEscalation(ctx, getRoleScopes(user.roles))
    await deleteLockedUser(tx, ctx, id)
  })
  return { deletedUserId: id }
}

/** Deletes a user whose row is locked for it, and records this with the ends of the sessions and memberships. */
export async function deleteLockedUser(tx: Db, ctx: Ctx, id: string): Promise<void> {
  const memberships = await tx.prisma.membership.findMany({
    where: { tenantId: ctx.tenant, userId: id },
    select: { id: true, organizationId: true },
  })
  const sessions = await deleteUserRow(tx, id)
  const isSelf = ctx.actor.kind === 'user' && ctx.actor.userId === id
  // IP addresses in the events of the user are cleared.
  await recordEvents(tx, isSelf ? { ...ctx, ip: null } : ctx, [
    ...createRevocationEvents({ sessions, grants: [] }, 'deleted'),
    ...memberships.map(({ organizationId, id: membershipId }) =>
      createEvent('membership.deleted', { userId: id, organizationId, membershipId }),
    ),
    createEvent('user.deleted', { userId: id }),
  ])
}
