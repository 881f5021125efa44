import type { Ctx } from '../context/context.ts'
import { InvalidInput } from '../core/errors.ts'
import type { User } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { toPhoneNumberKey } from '../schema/phone-numbers.ts'
import { toUserColumns } from '../users/user-body.ts'
import { changeUser, getUser } from '../users/users.ts'
import { RemovePhoneNumber } from './account.fields.ts'
import { requireStepUp } from './step-up.ts'

/**
 * Removes the caller's phone number. Throws InvalidInput when it is another number, or without a verified
 * e-mail address, so that the caller can still sign in; and StepUpRequired.
 */
export async function removeViewerPhoneNumber(ctx: Ctx, input: unknown): Promise<User> {
  const { userId } = await requireStepUp(ctx)
  const { phoneNumber } = parseInput(RemovePhoneNumber, input)
  const { phoneNumberKey } = await getUser(ctx, userId)
  if (phoneNumberKey === null || toPhoneNumberKey(phoneNumber) !== phoneNumberKey)
    throw new InvalidInput([{ field: 'phoneNumber', description: 'is not your current phone number' }])
  return changeUser(ctx, userId, toUserColumns({ phoneNumber: null }), ({ user }) =>
    user.emailVerified
      ? []
      : [
          {
            field: 'phoneNumber',
            description: 'is your only verified address: verify an e-mail address first',
          },
        ],
  )
}
