import * as z from 'zod'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'
import { CHANNEL } from '../tenants/passcode-settings.fields.ts'

export const SignInLimitShape = z
  .object({
    channel: CHANNEL.shape.meta({ description: 'email or sms.', example: 'email' }),
    wrongGuesses: z.int().meta({
      description: 'Wrong guesses at codes of six digits, until a day passes without one.',
      example: 9,
    }),
    longCodesUntil: instantShape.nullable().meta({
      description:
        'Until when codes have ten digits, except in browsers in which the user signed in before; null while they have six.',
    }),
    sentCodes: z.int().meta({ description: 'Codes that were requested in this hour.', example: 2 }),
    codesAgainAt: instantShape.nullable().meta({
      description: 'When codes are sent again, because too many were requested; null while they are sent.',
    }),
  })
  .meta({ typeName: 'SignInLimit' })

export const SignInLimitsShape = z
  .object({ limits: z.array(SignInLimitShape).meta({ description: 'One for each address.' }) })
  .meta({ id: 'SignInLimits', description: 'The limits of codes of each address of a user.' })

/** The members of the result of a reset. */
export const RESET_LIMITS = { userId: createIdShape('user').meta({ description: 'Id of the user.' }) }
