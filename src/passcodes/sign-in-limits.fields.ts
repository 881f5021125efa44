import * as z from 'zod'
import { instantShape } from '../schema/response-shapes.ts'

/** The description of each member, for REST and GraphQL. */
export const SIGN_IN_LIMIT_DESCRIPTIONS = {
  channel: 'email or sms.',
  wrongGuesses: 'Wrong guesses at codes of six digits, until a day passes without one.',
  longCodesUntil:
    'Until when codes have ten digits, except in browsers in which the user signed in before; null while they have six.',
  sentCodes: 'Codes that were requested in this hour.',
  codesAgainAt: 'When codes are sent again, because too many were requested; null while they are sent.',
}

export const SignInLimitsShape = z
  .object({
    limits: z
      .array(
        z.object({
          channel: z
            .enum(['email', 'sms'])
            .meta({ description: SIGN_IN_LIMIT_DESCRIPTIONS.channel, example: 'email' }),
          wrongGuesses: z.int().meta({ description: SIGN_IN_LIMIT_DESCRIPTIONS.wrongGuesses, example: 9 }),
          longCodesUntil: instantShape
            .nullable()
            .meta({ description: SIGN_IN_LIMIT_DESCRIPTIONS.longCodesUntil }),
          sentCodes: z.int().meta({ description: SIGN_IN_LIMIT_DESCRIPTIONS.sentCodes, example: 2 }),
          codesAgainAt: instantShape
            .nullable()
            .meta({ description: SIGN_IN_LIMIT_DESCRIPTIONS.codesAgainAt }),
        }),
      )
      .meta({ description: 'One for each address.' }),
  })
  .meta({ id: 'SignInLimits', description: 'The limits of codes of each address of a user.' })
