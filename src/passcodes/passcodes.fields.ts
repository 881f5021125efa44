import * as z from 'zod'
import { cleanTypedEmail } from '../core/typed-text.ts'
import type { Channel } from '../model/sign-in-methods.ts'
import { isEmailLike, toEmailKey } from '../schema/address-keys.ts'
import { boolean, requiredText, text } from '../schema/input-shapes.ts'
import { type Country, parsePhoneNumber } from '../schema/phone-numbers.ts'
import { createIdShape } from '../schema/response-shapes.ts'
import { RequestMetadata, sessionExpirationMinutes } from '../sessions/sessions.fields.ts'

export type { Channel }

/**
 * The address of a code. `key` is the normalized form, which is compared and to which the message is sent.
 */
export type PasscodeAddress = { channel: Channel; shown: string; key: string }

function parseEmailAddress(to: string): PasscodeAddress | null {
  const shown = cleanTypedEmail(to)
  const key = toEmailKey(shown)
  return key === null ? null : { channel: 'email', shown, key }
}

/** Whether a text message can be sent to a number: it is valid E.164 without an extension. */
function parseSmsAddress(to: string, countries: readonly Country[] = []): PasscodeAddress | null {
  const number = parsePhoneNumber(to, countries)
  return number === null || number.includes(';') ? null : { channel: 'sms', shown: number, key: number }
}

/** Parses an e-mail address or a phone number, which may be in the national form of one of `countries`. */
export const parseAddress = (to: string, countries: readonly Country[] = []): PasscodeAddress | null =>
  isEmailLike(to) ? parseEmailAddress(to) : parseSmsAddress(to, countries)

const createAddressShape = (read: (to: string) => PasscodeAddress | null, message: string) =>
  text(254).transform((to, context) => {
    const address = read(to)
    if (address) return address
    context.addIssue(message)
    return z.NEVER
  })

const EMAIL_FORMAT = { format: 'idn-email' }
/** A text message cannot be sent to an extension. */
const SMS_FORMAT = { format: 'phone', pattern: '^[^;]*$' }

const RECIPIENT_SHAPES = {
  email: createAddressShape(parseEmailAddress, 'must be an e-mail address').meta(EMAIL_FORMAT),
  sms: createAddressShape(
    parseSmsAddress,
    'must be a phone number with its country code, such as +41791234567',
  ).meta(SMS_FORMAT),
}

/** Example addresses of each channel. */
const EXAMPLE_ADDRESSES: Record<Channel, string> = { email: 'ada@example.com', sms: '+436641234567' }

const RECIPIENT_DESCRIPTIONS: Record<Channel, string> = {
  email: 'E-mail address.',
  sms: 'Phone number with its country code.',
}

const createSendShape = (channel: Channel) =>
  z.strictObject({
    to: RECIPIENT_SHAPES[channel].meta({
      description: RECIPIENT_DESCRIPTIONS[channel],
      example: EXAMPLE_ADDRESSES[channel],
    }),
    createUser: boolean
      .nullish()
      .transform((value) => value ?? false)
      .meta({ description: 'Create a user when no user has the address.', example: true }),
    metadata: RequestMetadata,
  })
const SEND_DESCRIPTION = 'The address to which a code is sent.'
export const SendPasscode = {
  email: createSendShape('email').meta({ id: 'SendEmailPasscode', description: SEND_DESCRIPTION }),
  sms: createSendShape('sms').meta({ id: 'SendSmsPasscode', description: SEND_DESCRIPTION }),
}

export const SentPasscodeShape = z
  .object({
    to: z.string().meta({ description: 'Where the code was sent.', example: EXAMPLE_ADDRESSES.email }),
    userId: createIdShape('user').meta({ description: 'Id of the user whose address it is.' }),
    userCreated: z.boolean().meta({ description: 'Whether this operation created the user.', example: true }),
  })
  .meta({ id: 'SentPasscode', description: 'The code was sent.' })

export const AuthenticatePasscode = z
  .strictObject({
    to: createAddressShape(parseAddress, 'must be an e-mail address or a phone number').meta({
      description: 'E-mail address or phone number that the code was sent to.',
      example: EXAMPLE_ADDRESSES.email,
      anyOf: [EMAIL_FORMAT, SMS_FORMAT],
    }),
    code: requiredText(100).meta({ description: 'The code.', example: '123456' }),
    sessionExpirationMinutes: sessionExpirationMinutes.meta({
      description: 'Starts a session of this number of minutes; 0 to 129600, none when omitted or 0.',
      example: 60,
    }),
    metadata: RequestMetadata,
  })
  .meta({ id: 'AuthenticatePasscode', description: 'A code to authenticate.' })
