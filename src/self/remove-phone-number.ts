import type { Ctx } from '../ctx.ts'
import { InvalidInput } from '../errors.ts'
import { parse } from '../fields.ts'
import type { User } from '../generated/prisma/client.ts'
import { phoneNumberOf } from '../users/addresses.ts'
import { toColumns } from '../users/user-body.ts'
import { changeUser, getUser } from '../users/users.ts'
import { requireOwnAccess } from './own-access.ts'
import { RemovePhoneNumber } from './self.fields.ts'

/**
 * Takes the caller's phone number away. Throws InvalidInput for another number than theirs, and without a verified e-mail
 * address, so that nobody locks themselves out; and as requireOwnAccess does.
 */
export async function removeViewerPhoneNumber(ctx: Ctx, input: unknown, now = new Date()): Promise<User> {
  const { userId } = await requireOwnAccess(ctx, now)
  const { phoneNumber } = parse(RemovePhoneNumber, input)
  const { phoneNumberKey } = await getUser(ctx, userId)
  if (phoneNumberKey === null || phoneNumberOf(phoneNumber)?.key !== phoneNumberKey)
    throw new InvalidInput([{ field: 'phoneNumber', description: 'is not yours' }])
  return changeUser(ctx, userId, toColumns({ phoneNumber: null }), ({ user }) =>
    user.emailVerified
      ? []
      : [{ field: 'phoneNumber', description: 'is your only proven address: prove an e-mail address first' }],
  )
}
