import * as z from 'zod'
import { env } from '../core/env.ts'
import { findTargetIssue } from '../core/network/fetcher.ts'
import {
  type DeliveryChannel,
  type OwnServers,
  type ServerSecret,
  sealServerSecret,
} from '../delivery/own-servers.ts'
import { isAllowedSender } from '../delivery/sender.ts'
import { canSendSms } from '../delivery/sms.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { defineEnum } from '../schema/enums.ts'
import { createFetchedUrl } from '../schema/fetched-url.fields.ts'
import { textField } from '../schema/fields.ts'
import { clearable, text } from '../schema/input-shapes.ts'

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

type Issue = { field: string; description: string }

const SERVER_SYNTAX = /^smtps?:\/\/[^\s/?#@]+$/

/** Hosts that the fetcher would reject on every connection are rejected on input. */
function findServerIssue(value: string): string | null {
  const url = URL.canParse(value) && SERVER_SYNTAX.test(value) ? new URL(value) : null
  if (!url?.hostname) return 'must be smtps:// or smtp://, a host and optionally a port'
  return findTargetIssue(new URL(`https://${url.host}`))
}

const mailServer = text(300)
  .superRefine((value, context) => {
    const issue = findServerIssue(value)
    if (issue) context.addIssue(issue)
  })
  .meta({ format: 'uri', pattern: SERVER_SYNTAX.source })

/** A control would end a command or a header. */
const line = (maxLength: number) => text(maxLength).regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'must be one line')

/** The settings of the servers for messages. */
export const messageServerSettings = {
  mailServer: textField(mailServer, 'smtps://mail.example.com'),
  mailServerUser: textField(line(255), 'vestibule'),
  smsGatewayUrl: textField(
    createFetchedUrl({ secure: env.isProduction }),
    'https://sms.example.com/messages',
  ),
}
type MessageServerSettings = { [Name in keyof typeof messageServerSettings]?: string | null | undefined }

const token = text(2000).regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')

/** Secrets of those servers: inputs have them, and no response. */
export const messageServerSecrets = {
  mailServerPassword: clearable(line(1000)).meta({ example: 'correct horse' }),
  smsGatewayToken: clearable(token).meta({ example: '6f1a9c' }),
}
export const SERVER_SECRET_NAMES = Object.keys(messageServerSecrets) as ServerSecret[]
type Secrets = { [Name in ServerSecret]?: string | null | undefined }

/** Issues of the sender and the channels, which depend on the servers. */
export function findDeliveryIssues(
  settings: MessageServerSettings & {
    mailSenderAddress?: string | null | undefined
    passcodeChannels?: readonly string[] | undefined
  },
): Issue[] {
  const {
    mailServer: server,
    mailServerUser,
    smsGatewayUrl,
    mailSenderAddress,
    passcodeChannels = ['email'],
  } = settings
  const issues: Issue[] = []
  if (server && !mailSenderAddress)
    issues.push({ field: 'mailSenderAddress', description: 'is required with mailServer' })
  // The list of domains is not part of the message: it may name other tenants.
  if (!server && mailSenderAddress && !isAllowedSender(mailSenderAddress))
    issues.push({
      field: 'mailSenderAddress',
      description: 'must be at a domain from which the deployment permits mail (MAIL_DOMAINS)',
    })
  if (!server && mailServerUser)
    issues.push({ field: 'mailServerUser', description: 'is of no use without mailServer' })
  if (!canSendSms({ smsGatewayUrl }) && !passcodeChannels.includes('email'))
    issues.push({
      field: 'passcodeChannels',
      description: 'must contain email, because SMS_URL is not set',
    })
  return issues
}

/**
 * Issues of the secrets: each is given with what it belongs to, and again with another server, which would get the stored
 * one. `changed` has the settings that change.
 */
export function findSecretIssues(
  next: MessageServerSettings,
  changed: MessageServerSettings,
  secrets: Secrets,
): Issue[] {
  const isChanged = (...names: (keyof MessageServerSettings)[]) => names.some((name) => name in changed)
  const issues: Issue[] = []
  if (next.mailServerUser && !secrets.mailServerPassword && isChanged('mailServer', 'mailServerUser'))
    issues.push({ field: 'mailServerPassword', description: 'is required with another server or user' })
  if (!next.mailServerUser && secrets.mailServerPassword)
    issues.push({ field: 'mailServerPassword', description: 'is of no use without mailServerUser' })
  if (next.smsGatewayUrl && !secrets.smsGatewayToken && isChanged('smsGatewayUrl'))
    issues.push({ field: 'smsGatewayToken', description: 'is required with another gateway' })
  if (!next.smsGatewayUrl && secrets.smsGatewayToken)
    issues.push({ field: 'smsGatewayToken', description: 'is of no use without smsGatewayUrl' })
  return issues
}

/** The columns that follow from changed servers: sealed secrets, and no failure of the former server. */
export const toServerColumns = (
  tenant: string,
  next: MessageServerSettings,
  changed: MessageServerSettings,
  { mailServerPassword, smsGatewayToken }: Secrets,
): Partial<OwnServers> => ({
  ...(mailServerPassword && {
    mailServerPassword: sealServerSecret(tenant, 'mailServerPassword', mailServerPassword),
  }),
  ...(smsGatewayToken && { smsGatewayToken: sealServerSecret(tenant, 'smsGatewayToken', smsGatewayToken) }),
  ...(!next.mailServerUser && { mailServerPassword: null }),
  ...(!next.smsGatewayUrl && { smsGatewayToken: null }),
  ...(('mailServer' in changed || 'mailServerUser' in changed || mailServerPassword) && {
    mailFailingSince: null,
  }),
  ...(('smsGatewayUrl' in changed || smsGatewayToken) && { smsFailingSince: null }),
})

const DELIVERY_CHANNEL = defineEnum<DeliveryChannel>('DeliveryChannel', 'How a message reaches a person.', {
  email: 'An e-mail.',
  sms: 'A text message.',
})

/** Input of testDelivery. */
export const DeliveryTest = z
  .strictObject(
    { channel: DELIVERY_CHANNEL.shape.meta({ description: 'What is tested.', example: 'email' }) },
    'must be an object',
  )
  .meta({ id: 'DeliveryTest', description: 'A message to the caller.' })

/** What testDelivery returns. */
export const DeliveryTestShape = z
  .object({
    to: z.string().meta({
      description: 'The verified address or number of the caller.',
      example: 'ada@example.com',
    }),
    delivered: z.boolean().meta({ description: 'Whether the server accepted the message.', example: false }),
    outcome: z.string().meta({
      description: 'What the server answered, in words.',
      example: 'The server did not accept the user and the password (535).',
    }),
  })
  .meta({ id: 'DeliveryTestResult', description: 'The outcome of a test message.' })
