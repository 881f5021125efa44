import type { Ctx } from '../context/context.ts'
import { toUserCtx } from '../context/context.ts'
import { newId } from '../core/crypto.ts'
import { UserLocked } from '../core/errors.ts'
import { repeatOnConflict } from '../core/to-app-error.ts'
import type { Tx } from '../database/handle.ts'
import type { UserOrigin } from '../events/types.ts'
import type { User } from '../generated/prisma/client.ts'
import { hasJoinDomains, joinByDomain } from '../organizations/domain-joins.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { toUserColumns, type UserColumns } from '../users/user-body.ts'
import { UserCreate } from '../users/users.fields.ts'
import { insertUserWithEvents } from '../users/users.ts'
import { lockAddressOwner } from './address-owner.sql.ts'
import type { PasscodeAddress } from './passcodes.fields.ts'
import { verifyOwnAddress } from './passcodes.ts'

/** A person who has proven an e-mail address, and what the person entered. */
export type ProvenPerson = {
  address: PasscodeAddress
  /** The fields of the user if one is created. */
  fields: Record<string, unknown>
  /** Columns of that user that the person does not enter. */
  columns?: UserColumns
  origin: UserOrigin
  clientId: string | null
}

/**
 * Runs `finish` for the user who has a proven e-mail address, in one transaction; the user is created if there
 * is none. Several calls for one address create one user. `begin` runs first in the transaction; when it
 * returns false, nothing is done and the result is null. Throws InvalidInput, and UserLocked when the user of
 * the address may not sign in.
 */
export async function enterAsOwner<T>(
  ctx: Ctx,
  person: ProvenPerson,
  begin: (tx: Tx) => Promise<boolean>,
  finish: (tx: Tx, ctx: Ctx, user: User, isCreated: boolean) => Promise<T>,
  now: Date,
): Promise<T | null> {
  const { address, fields, origin, clientId } = person
  const input = parseInput(UserCreate, { ...fields, email: address.shown, emailVerified: true })
  const columns = { ...toUserColumns(input), ...person.columns }
  const joins = await hasJoinDomains(ctx)
  const enter = () =>
    ctx.db.transaction(async (tx) => {
      if (!(await begin(tx))) return null
      const owner = await lockAddressOwner(tx, address, now)
      const id = owner?.id ?? newId('user')
      const userCtx = toUserCtx(ctx, { userId: id, clientId })
      const user = owner
        ? await verifyOwnAddress(tx, userCtx, owner, address.channel, now)
        : await insertUserWithEvents(tx, userCtx, columns, { id, origin })
      if (joins) await joinByDomain(tx, userCtx, { userId: id, emailKey: address.key })
      return finish(tx, userCtx, user, !owner)
    })
  // The user who has got the address in the meantime is found now, unless that user may not sign in.
  return repeatOnConflict(enter, () => new UserLocked())
}
