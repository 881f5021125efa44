import { toEmailKey } from '../schema/address-keys.ts'
import { textField } from '../schema/fields.ts'
import { text } from '../schema/input-shapes.ts'

/** An address that every mail server accepts as a sender: in ASCII, without quotes (RFC 5321, section 4.1.2). */
const MAILBOX_SYNTAX =
  /^(?=[^@]{1,64}@)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const mailbox = text(254)
  .refine((value) => MAILBOX_SYNTAX.test(value) && toEmailKey(value) !== null, {
    error: 'must be an e-mail address in ASCII, such as help@example.com',
    abort: true,
  })
  .meta({ format: 'email', pattern: MAILBOX_SYNTAX.source })

/** A control or a separator of lines would start another header. */
const LINE_SYNTAX = /^[^\p{Cc}\u2028\u2029]*$/u
const senderName = text(100).regex(LINE_SYNTAX, 'must be one line')

/** The settings of the sender of mails. */
export const mailSenderSettings = {
  mailSenderName: textField(senderName, 'Example Inc.'),
  mailSenderAddress: textField(mailbox, 'no-reply@example.com'),
  mailReplyTo: textField(mailbox, 'help@example.com'),
}
