import type { Channel } from '../core/sign-in-methods.ts'
import { deliverMail, type Mail } from './mail.ts'
import { deliverSms } from './sms.ts'

/** A message to an address. */
export type Message = Mail & { channel: Channel }

/** Sends a message by e-mail or text message; a text message has no subject. Throws Unavailable. */
export const deliverMessage = ({ channel, text, ...mail }: Message): Promise<void> =>
  channel === 'email' ? deliverMail({ text, ...mail }) : deliverSms({ to: mail.to, body: text })
