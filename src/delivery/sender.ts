import { env } from '../core/env.ts'
import { toHeaderText } from './header-text.ts'
import { cleanName } from './names.ts'
import type { OwnServers } from './own-servers.ts'

/** How a tenant sends mail. What is null is that of the deployment. */
export type MailSender = {
  senderName?: string | null
  senderAddress?: string | null
  replyTo?: string | null
  servers?: OwnServers
}

type Address = { name: string; address: string }

const parseSender = (text: string): Address => {
  const [, name = '', address = text] = /^"?([^"<]*?)"?\s*<([^<>]+)>$/.exec(text.trim()) ?? []
  return { name, address }
}

const getDomain = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase()

/** Whether mail of tenants may come from this address: MAIL_DOMAINS names its domain. */
export const isAllowedSender = (address: string): boolean => env.mailDomains.includes(getDomain(address))

/**
 * The sender of a mail, and where replies go. An address whose domain is no longer in MAIL_DOMAINS is not used:
 * mail continues to come from MAIL_FROM. The mail server of a tenant itself decides from which addresses it sends.
 */
export function selectSender({ senderName, senderAddress, replyTo, servers }: MailSender): {
  from: Address
  replyTo?: Address
} {
  const standard = parseSender(env.mailFrom)
  const name = toHeaderText(cleanName(senderName ?? '')) || standard.name
  const isAllowed = senderAddress && (servers?.mailServer || isAllowedSender(senderAddress))
  const address = isAllowed ? senderAddress : standard.address
  return { from: { name, address }, ...(replyTo && { replyTo: { name: '', address: replyTo } }) }
}

/** The domain of MAIL_FROM, which ids of mails have. */
export const getMailDomain = (): string => getDomain(parseSender(env.mailFrom).address)
