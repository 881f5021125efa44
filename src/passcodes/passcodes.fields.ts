import { z } from 'zod'
import { boolean, requiredText } from '../fields.ts'
import { RequestMetadata, sessionExpirationMinutes } from '../sessions/sessions.fields.ts'
import { idOf } from '../shapes.ts'
import { emailKeyOf, phoneNumberOf } from '../users/addresses.ts'

export type Channel = 'email' | 'sms'

/** Where a code goes. `key` is what is compared and what the message is sent to: the form that was checked. */
export type Address = { channel: Channel; shown: string; key: string }

function emailAddressOf(to: string): Address | null {
  const key = emailKeyOf(to)
  return key === null ? null : { channel: 'email', shown: to, key }
}

/** A number that a text message can go to: it parsed, and is no extension behind a switchboard. */
function smsAddressOf(to: string): Address | null {
  const number = phoneNumberOf(to)
  if (!number?.canBeVerified || number.key.includes(';')) return null
  return { channel: 'sms', shown: number.shown, key: number.key }
}

/** An e-mail address or a phone number, whichever it is. */
export const addressOf = (to: string): Address | null =>
  to.includes('@') ? emailAddressOf(to) : smsAddressOf(to)

const addressBy = (read: (to: string) => Address | null, message: string) =>
  requiredText(320).transform((to, context) => {
    const address = read(to)
    if (address) return address
    context.addIssue(message)
    return z.NEVER
  })

const SEND_TO = {
  email: addressBy(emailAddressOf, 'must be an e-mail address'),
  sms: addressBy(smsAddressOf, 'must be a phone number with its country code, such as +41791234567'),
}

/** What an address of each channel looks like in examples. */
const EXAMPLE_ADDRESSES: Record<Channel, string> = { email: 'ada@example.com', sms: '+436641234567' }

const sendShape = (channel: Channel) =>
  z.strictObject({
    to: SEND_TO[channel].meta({
      description: 'E-mail address, or phone number with its country code.',
      example: EXAMPLE_ADDRESSES[channel],
    }),
    createUser: boolean
      .nullish()
      .transform((value) => value ?? false)
      .meta({ description: 'Create a user when nobody has the address.', example: true }),
    metadata: RequestMetadata,
  })
const WHERE_TO = 'Where a code is to go.'
export const SendPasscode = {
  email: sendShape('email').meta({ id: 'SendEmailPasscode', description: WHERE_TO }),
  sms: sendShape('sms').meta({ id: 'SendSmsPasscode', description: WHERE_TO }),
}

export const SentPasscodeShape = z
  .object({
    to: z.string().meta({ description: 'Where the code was sent.', example: EXAMPLE_ADDRESSES.email }),
    userId: idOf('user').meta({ description: 'Id of the user whose address it is.' }),
    userCreated: z.boolean().meta({ description: 'Whether the user was created by this.', example: true }),
  })
  .meta({ id: 'SentPasscode', description: 'The code is on its way.' })

export const AuthenticatePasscode = z
  .strictObject({
    to: addressBy(addressOf, 'must be an e-mail address or a phone number').meta({
      description: 'E-mail address or phone number that the code was sent to.',
      example: EXAMPLE_ADDRESSES.email,
    }),
    code: requiredText(100).meta({ description: 'The code.', example: '123456' }),
    sessionExpirationMinutes: sessionExpirationMinutes.meta({
      description: 'Starts a session of so many minutes; 0 to 129600, none when omitted or 0.',
      example: 60,
    }),
    metadata: RequestMetadata,
  })
  .meta({ id: 'AuthenticatePasscode', description: 'A code to authenticate.' })
