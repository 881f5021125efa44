import { resolveRoles } from '../access/held-roles.sql.ts'
import { requireGrantableRoles } from '../access/require-scope.ts'
import { voidPreparedAccess } from '../access/revocation/revocation.sql.ts'
import type { Ctx } from '../context/context.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import { getRoleScopes, type Scope } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { User } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { RoleSet } from './roles.fields.ts'
import { toUserColumns } from './user-body.ts'
import { EmailLookup } from './users.fields.ts'
import { updateUserRoles } from './users.sql.ts'
import { changeUser, getUserByEmail, insertUserWithEvents } from './users.ts'

/**
 * Gives a user exactly these roles. Throws NotFound, InvalidInput, and Forbidden when a role that is given or
 * taken permits what the caller may not.
 */
export async function setUserRoles(ctx: Ctx, id: string, input: unknown): Promise<User> {
  const wanted = [...new Set(parseInput(RoleSet, input).roles)].sort()
  return changeUser(ctx, id, { roles: wanted }, async (_updated, tx) => {
    await requireGrantableRoles(tx, ctx, wanted)
    return []
  })
}

/** The management scopes that the roles of a user permit now: one statement for roles that the tenant has defined. */
export const readRoleScopes = async ({ db }: Ctx, { roles }: Pick<User, 'roles'>): Promise<Set<Scope>> =>
  getRoleScopes(await resolveRoles(db, roles))

/**
 * Adds roles to a user inside the caller's transaction, with the events. Enrollment links and the old password end, as
 * with any change of roles.
 */
export async function addRoles(tx: Db, ctx: Ctx, userId: string, roles: readonly string[]): Promise<void> {
  const user = await updateUserRoles(tx, userId, [...roles])
  if (!user) return
  await recordEvents(tx, ctx, [createEvent('role.changed', { userId }, { roles: user.roles.join(' ') })])
  await voidPreparedAccess(tx, userId)
}

/**
 * Adds a role to the user with an e-mail address; a missing user is created and verifies the address at
 * the first sign-in (command line: the first administrator). Throws NotFound, Forbidden, and InvalidInput
 * for an unverified address of a user who has a phone number.
 */
export async function grantRole(
  ctx: Ctx,
  email: string,
  role: string,
): Promise<{ user: User; isCreated: boolean }> {
  const { roles } = parseInput(RoleSet, { roles: [role] })
  await requireGrantableRoles(ctx.db, ctx, roles)
  const address = parseInput(EmailLookup, { email })
  const user = await getUserByEmail(ctx, email).catch((error: unknown) => {
    if (error instanceof NotFound) return null
    throw error
  })
  // If the phone number is verified first, its owner becomes this user, and the unverified address can no
  // longer sign in.
  if (user && !user.emailVerified && user.phoneNumber !== null)
    throw new InvalidInput([
      {
        field: 'email',
        description: 'is not verified, and its user has a phone number that another person may own',
      },
    ])
  if (user)
    return { user: await setUserRoles(ctx, user.id, { roles: [...user.roles, ...roles] }), isCreated: false }
  const created = await ctx.db.transaction(async (tx) => {
    await requireGrantableRoles(tx, ctx, roles)
    return insertUserWithEvents(tx, ctx, { ...toUserColumns(address), roles })
  })
  return { user: created, isCreated: true }
}
