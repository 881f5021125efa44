import { deliverMail } from './mail.ts'
import type { RichMail } from './mail-content.ts'
import type { DeliveryChannel } from './own-servers.ts'
import { deliverSms } from './sms.ts'

/** A message in the words of each channel. */
export type Message = { mail: RichMail; sms: string }

/** One address or number, and how messages reach it. */
export type Recipient = { channel: DeliveryChannel; to: string }

/** Sends a message by mail or text message. Throws Unavailable. */
export const deliverMessage = ({ channel, to }: Recipient, { mail, sms }: Message): Promise<void> =>
  channel === 'email'
    ? deliverMail({ to, ...mail })
    : deliverSms({ to, body: sms, servers: mail.tenant.servers })
