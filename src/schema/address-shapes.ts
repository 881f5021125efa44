import * as z from 'zod'
import { cleanTypedEmail } from '../core/typed-text.ts'
import { toEmailKey } from './address-keys.ts'
import { text } from './input-shapes.ts'
import { toStoredPhoneNumber } from './phone-numbers.ts'

/** An e-mail address as it is typed; the value is what is stored. */
export const emailAddress = text(254)
  .transform((typed, context) => {
    const address = cleanTypedEmail(typed)
    if (toEmailKey(address) !== null) return address
    context.addIssue('must be an e-mail address such as name@example.com (RFC 5322 addr-spec)')
    return z.NEVER
  })
  .meta({ format: 'idn-email' })

/** A phone number, preferably with its country code, in any notation; `toUserColumns` converts it. */
export const phoneNumber = text(100)
  .refine(
    (value) => toStoredPhoneNumber(value) !== null,
    'must be a phone number, preferably with its country code, such as +14155552671',
  )
  .meta({ anyOf: [{ format: 'phone' }, { format: 'local-phone' }] })
