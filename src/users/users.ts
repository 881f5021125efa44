import { newId, prefixOf } from '../crypto.ts'
import { type Ctx, scopesOfRoles } from '../ctx.ts'
import { dbFor, inTransaction, type Sql, sql } from '../db.ts'
import { Conflict, describeError, type FieldFault, InvalidInput, NotFound } from '../errors.ts'
import { type NewEvent, recordEvents, wakeReaders } from '../events.ts'
import { assertExpected } from '../expected-updated-at.ts'
import { parse } from '../fields.ts'
import type { Prisma, User } from '../generated/prisma/client.ts'
import { requireNoEscalation } from '../scopes.ts'
import { wakeAfterEnding } from '../sessions/after-ending.ts'
import { emailKeyOf, phoneNumberOf } from './addresses.ts'
import { holdAllOfUser } from './hold-user.sql.ts'
import { endUserAccess, voidEnrolments } from './user-access.sql.ts'
import { echoFaults, fieldsOfColumns, splitPatch, toColumns, type UserColumns } from './user-body.ts'
import { EmailLookup, flagFaults, PhoneNumberLookup, UserCreate, UserPatch } from './users.fields.ts'
import {
  deleteUserRow,
  insertUser,
  selectTaken,
  UNIQUE_FIELDS,
  type UpdatedUser,
  updateUserRow,
} from './users.sql.ts'

/** Throws NotFound for what cannot be the id of a user, before the database is asked. */
function assertUserId(id: string): void {
  if (prefixOf(id) !== 'user') throw new NotFound('user')
}

/** Runs a write; a violated unique index becomes a Conflict that names every address that is taken. */
async function namingConflicts<T>(
  ctx: Ctx,
  columns: UserColumns,
  id: string | null,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    const error = describeError(thrown)
    if (error === thrown || !(error instanceof Conflict)) throw thrown
    // The index names one field; others may be taken too.
    const taken = await selectTaken(sql, ctx.tenant, columns, id)
    const fields = UNIQUE_FIELDS.filter(
      (field) => taken[field] || error.fields.some((fault) => fault.field === field),
    )
    throw new Conflict(
      fields.map((field) => ({ field, description: 'is taken by another user' })),
      error.message,
    )
  }
}

/** Writes a user and its events inside the caller's transaction: two statements. Wake the readers after it committed. */
export async function addUser(sql: Sql, ctx: Ctx, columns: UserColumns): Promise<User> {
  const user = await insertUser(sql, ctx.tenant, newId('user'), columns)
  await recordEvents(sql, ctx, creationEventsOf(user))
  return user
}

/** Creates a user (spec: Create user). Throws InvalidInput, or Conflict that names the addresses that are taken. */
export const createUser = async (ctx: Ctx, input: unknown): Promise<User> =>
  createUserOf(ctx, toColumns(parse(UserCreate, input)))

/** Creates a user of checked columns in one transaction. Throws Conflict that names the fields that are taken. */
export async function createUserOf(ctx: Ctx, columns: UserColumns): Promise<User> {
  const user = await namingConflicts(ctx, columns, null, () =>
    inTransaction((sql) => addUser(sql, ctx, columns)),
  )
  wakeReaders(ctx.tenant)
  return user
}

/** What Prisma must read besides the columns, such as the sessions that GraphQL selected below each user. */
export type UserQuery = Pick<Prisma.UserFindManyArgs, 'include' | 'select'>

/** The user with an id. Throws NotFound. */
export async function getUser(ctx: Ctx, id: string, query: UserQuery = {}): Promise<User> {
  assertUserId(id)
  const user = await dbFor(ctx.tenant).user.findUnique({
    ...query,
    where: { tenantId_id: { tenantId: ctx.tenant, id } },
  })
  if (!user) throw new NotFound('user')
  return user
}

/** The user with an e-mail address, however it is spelled. Throws InvalidInput when it is none, NotFound. */
export async function getUserByEmail(ctx: Ctx, email: unknown, query: UserQuery = {}): Promise<User> {
  const emailKey = emailKeyOf(parse(EmailLookup, { email }).email)
  const user = await dbFor(ctx.tenant).user.findFirst({ ...query, where: { tenantId: ctx.tenant, emailKey } })
  if (!user) throw new NotFound('user')
  return user
}

/** The user with a phone number, however it is written. Throws InvalidInput when it is none, NotFound. */
export async function getUserByPhoneNumber(
  ctx: Ctx,
  phoneNumber: unknown,
  query: UserQuery = {},
): Promise<User> {
  const number = phoneNumberOf(parse(PhoneNumberLookup, { phoneNumber }).phoneNumber)
  const where = { tenantId: ctx.tenant, phoneNumberKey: number?.key ?? '' }
  const user = await dbFor(ctx.tenant).user.findFirst({ ...query, where })
  if (!user) throw new NotFound('user')
  return user
}

/**
 * Columns that decide who gets into the account, and whether anybody does. An import changes the address of whom it finds
 * by externalId.
 */
const ACCESS_COLUMNS = [
  'locked',
  'externalId',
  'email',
  'emailKey',
  'emailVerified',
  'phoneNumber',
  'phoneNumberKey',
  'phoneNumberVerified',
  'roles',
]

type Told = Pick<User, 'id' | 'locked' | 'roles'>

/** What the log says of a new user. */
export const creationEventsOf = (user: Told): NewEvent[] => [
  { type: 'user.created', userId: user.id },
  ...eventsOf({
    user,
    changed: [...(user.locked ? ['locked'] : []), ...(user.roles.length > 0 ? ['roles'] : [])],
  }),
]

/** What the log says of a change. A lock is told of as itself, before the ends of the sessions that it ends. */
export function eventsOf({ user, changed }: { user: Told; changed: string[] }): NewEvent[] {
  const changedFields = fieldsOfColumns(changed.filter((column) => column !== 'locked' && column !== 'roles'))
  const events: NewEvent[] = []
  if (changedFields.length > 0) events.push({ type: 'user.updated', userId: user.id, changedFields })
  if (changed.includes('roles'))
    events.push({ type: 'role.changed', userId: user.id, detail: { roles: user.roles.join(' ') } })
  if (changed.includes('locked'))
    events.push({ type: user.locked ? 'user.locked' : 'user.unlocked', userId: user.id })
  return events
}

/**
 * Changes columns of a user in one transaction, with everything that follows from it: a lock ends all access. A change
 * that changes nothing leaves updatedAt and the log alone. `check` sees the row as it is and was, and may refuse.
 * Throws NotFound, Conflict, InvalidInput (a flag without its address), and Forbidden where the change decides who gets
 * into the account of a user whose roles permit what the caller may not.
 */
export async function changeUser(
  ctx: Ctx,
  id: string,
  columns: UserColumns,
  check: (updated: UpdatedUser) => FieldFault[] = () => [],
): Promise<User> {
  assertUserId(id)
  const { user, changed } = await namingConflicts(ctx, columns, id, () =>
    inTransaction(async (sql) => {
      const updated = await updateUserRow(sql, ctx.tenant, id, columns)
      if (!updated) throw new NotFound('user')
      const faults = [...check(updated), ...flagFaults(updated.user)]
      if (faults.length > 0) throw new InvalidInput(faults)
      if (updated.changed.some((column) => ACCESS_COLUMNS.includes(column)))
        requireNoEscalation(ctx, scopesOfRoles(updated.before.roles))
      const events = eventsOf(updated)
      if (updated.user.locked && updated.changed.includes('locked'))
        await endUserAccess(sql, ctx, id, 'locked', events)
      else await recordEvents(sql, ctx, events)
      // Whoever made a link for somebody without a role may not have one into an administrator's account.
      if (updated.changed.includes('roles')) await voidEnrolments(sql, ctx.tenant, id)
      return updated
    }),
  )
  if (changed.includes('locked')) wakeAfterEnding(ctx.tenant)
  else if (changed.length > 0) wakeReaders(ctx.tenant)
  return user
}

/**
 * Changes a user (spec: Update user): omitted fields are unchanged, '' and null unset, the address is merged member by
 * member, metadata objects are replaced; response-only fields are ignored where they are as they were. `locked: true`
 * locks as lockUser does. With `expectedUpdatedAt`, nothing is written to a user who was changed since: Conflict. Throws
 * as changeUser does.
 */
export async function updateUser(ctx: Ctx, id: string, input: unknown): Promise<User> {
  const { fields, echoed } = splitPatch(parse(UserPatch, input))
  return changeUser(ctx, id, toColumns(fields), (updated) => {
    assertExpected(input, updated.before.updatedAt)
    return echoFaults(echoed, updated)
  })
}

/** Locks a user: ends sessions, grants, codes and live passcodes. A locked one stays as it is. Throws as changeUser does. */
export const lockUser = (ctx: Ctx, id: string): Promise<User> => changeUser(ctx, id, { locked: true })

/** Lets a locked user sign in again. Throws as changeUser does. */
export const unlockUser = (ctx: Ctx, id: string): Promise<User> => changeUser(ctx, id, { locked: false })

/**
 * Deletes a user with everything of theirs, for ever, and ends their sessions. Throws NotFound, and Forbidden for a user
 * whose roles permit what the caller may not.
 */
export async function deleteUser(ctx: Ctx, id: string): Promise<{ deletedUserId: string }> {
  assertUserId(id)
  await inTransaction(async (sql) => {
    const held = await holdAllOfUser(sql, ctx.tenant, id)
    if (!held) throw new NotFound('user')
    requireNoEscalation(ctx, scopesOfRoles(held.roles))
    const sessions = await deleteUserRow(sql, ctx.tenant, id)
    const isSelf = ctx.actor.kind === 'user' && ctx.actor.userId === id
    // Where the person was is forgotten with them.
    await recordEvents(sql, isSelf ? { ...ctx, ip: null } : ctx, [
      ...sessions.map(
        (session): NewEvent => ({
          type: 'session.ended',
          userId: id,
          sessionId: session.id,
          subjectIds: session.clientId ? [session.clientId] : [],
          detail: { reason: 'deleted' },
        }),
      ),
      { type: 'user.deleted', userId: id },
    ])
  })
  wakeAfterEnding(ctx.tenant)
  return { deletedUserId: id }
}
