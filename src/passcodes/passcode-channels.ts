import { canSendSms } from '../delivery/sms.ts'
import type { Channel } from '../model/sign-in-methods.ts'

/**
 * The channels by which a tenant's users receive the codes of the hosted pages, e-mail first. Without a gateway
 * for text messages, of the tenant or the deployment, e-mail is the only one, unless the tenant excludes it: then no code can be sent.
 */
export function listPasscodeChannels(tenant: {
  passcodeChannels: string[]
  smsGatewayUrl?: string | null
}): Channel[] {
  const channels = (['email', 'sms'] as const).filter((channel) => tenant.passcodeChannels.includes(channel))
  return canSendSms(tenant) || !channels.includes('email') ? channels : ['email']
}
