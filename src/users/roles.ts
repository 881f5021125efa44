import { type Ctx, scopesOfRoles } from '../ctx.ts'
import { inTransaction } from '../db.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import type { User } from '../generated/prisma/client.ts'
import { requireNoEscalation } from '../scopes.ts'
import { RoleSet } from './roles.fields.ts'
import { toColumns } from './user-body.ts'
import { EmailLookup } from './users.fields.ts'
import { addUser, changeUser, getUserByEmail } from './users.ts'

/**
 * Gives a user exactly these roles. Throws NotFound, InvalidInput, and Forbidden when a role that is given or taken
 * permits what the caller may not.
 */
export async function setUserRoles(ctx: Ctx, id: string, input: unknown): Promise<User> {
  const wanted = [...new Set(parse(RoleSet, input).roles)].sort()
  requireNoEscalation(ctx, scopesOfRoles(wanted))
  return changeUser(ctx, id, { roles: wanted })
}

/**
 * Adds a role to the person with an e-mail address, who is created where missing and proves the address at the first
 * sign-in (command line: the first administrator). Throws as setUserRoles does, and InvalidInput for an unverified address
 * beside a phone number.
 */
export async function grantRole(
  ctx: Ctx,
  email: string,
  role: string,
): Promise<{ user: User; isCreated: boolean }> {
  const [wanted] = parse(RoleSet, { roles: [role] }).roles
  const address = parse(EmailLookup, { email })
  const user = await getUserByEmail(ctx, email).catch((error: unknown) => {
    if (error instanceof NotFound) return null
    throw error
  })
  // Whoever proves the number first becomes its person, and the address never signs in then: it may be a planted one.
  if (user && !user.emailVerified && user.phoneNumber !== null)
    throw new InvalidInput([
      {
        field: 'email',
        description: 'is not verified, and its user has a phone number that may be anybody’s',
      },
    ])
  if (user)
    return { user: await setUserRoles(ctx, user.id, { roles: [...user.roles, wanted] }), isCreated: false }
  requireNoEscalation(ctx, scopesOfRoles([role]))
  const created = await inTransaction((sql) => addUser(sql, ctx, { ...toColumns(address), roles: [role] }))
  wakeReaders(ctx.tenant)
  return { user: created, isCreated: true }
}
