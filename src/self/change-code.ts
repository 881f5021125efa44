import { authenticate, authenticateAll, equals } from '../crypto.ts'
import { deliverMail, type Mail } from '../delivery/mail.ts'
import { deliverSms } from '../delivery/sms.ts'
import type { Address, Channel } from '../passcodes/passcodes.fields.ts'
import { findTenant } from '../tenants/tenant-cache.ts'

const PURPOSE = 'address-change'

/** What the log says of such a code, to tell it from codes that sign in. */
export const told = (channel: Channel) => ({ channel, purpose: PURPOSE })

/** Whose change it is, and the session that it was asked for in: elsewhere the code is worth nothing. */
export type Asking = { userId: string; sessionId: string; address: Address }

const bound = (tenant: string, { userId, sessionId, address }: Asking, code: string): string =>
  [tenant, userId, sessionId, address.key, code].join('\n')

/** How the code of a change is stored: under the server's key, as passcodes are, and for this change alone. */
export const changeCodeHashOf = (tenant: string, asking: Asking, code: string): Buffer =>
  authenticate(PURPOSE, bound(tenant, asking, code))

/** Compares in constant time, under every server key. */
export const isChangeCode = (tenant: string, asking: Asking, code: string, codeHash: Buffer): boolean =>
  authenticateAll(PURPOSE, bound(tenant, asking, code))
    .map((mac) => equals(mac, codeHash))
    .includes(true)

export type Message = Mail & { channel: Channel }

/** Sends a message to an address of either kind; a text message has no subject. */
export const deliver = ({ channel, text, ...mail }: Message): Promise<void> =>
  channel === 'email' ? deliverMail({ text, ...mail }) : deliverSms({ to: mail.to, body: text })

/** What messages say of the tenant. */
export async function tenantWords(slug: string): Promise<{ tenantName: string; supportUrl: string | null }> {
  const tenant = await findTenant(slug)
  return { tenantName: tenant?.friendlyName ?? slug, supportUrl: tenant?.supportUrl ?? null }
}
