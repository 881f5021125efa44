import { type MessageTenant, type RichMail, toMail } from './mail-content.ts'
import { cleanClientName, cleanName, isolateName } from './names.ts'
import { composeSms } from './sms-segment.ts'

const EXPIRY = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/** What changed about the user's account. */
export type ChangedAddress = 'e-mail address' | 'phone number'

/**
 * Builds the notice of a changed address; its text serves both channels. It names neither the old nor the new
 * address.
 */
export function buildChangeNotice(tenant: MessageTenant, what: ChangedAddress): RichMail {
  const name = isolateName(cleanName(tenant.name))
  const help = tenant.supportUrl ? `get help at ${tenant.supportUrl}` : `contact ${name} immediately`
  return toMail(tenant, `Your ${what} at ${name} was changed`, [
    { text: `The ${what} of your account at ${name} was changed. If this was not you, ${help}.` },
  ])
}

/** Builds the notice of a recovery code that was used for a sign-in. */
export function buildRecoveryCodeNotice(tenant: MessageTenant, remaining: number): RichMail {
  const name = isolateName(cleanName(tenant.name))
  const help = tenant.supportUrl ? `get help at ${tenant.supportUrl}` : `contact ${name} immediately`
  const left = remaining === 1 ? 'One code is left.' : `${remaining || 'No'} codes are left.`
  return toMail(tenant, `A recovery code was used for your account at ${name}`, [
    {
      text: `Someone signed in to your account at ${name} with a recovery code. ${left} If this was not you, ${help}.`,
    },
  ])
}

/** Builds the announcement of a link by which an administrator gives a user access again; it serves both channels. */
export function buildRecoveryNotice(
  tenant: MessageTenant,
  { uri, usableAt }: { uri: string; usableAt: Date },
): RichMail {
  const name = isolateName(cleanName(tenant.name))
  return toMail(tenant, `Someone asked for a new way into your account at ${name}`, [
    {
      text: `An administrator of ${name} made a link that creates a new passkey for your account. It works from ${EXPIRY.format(usableAt)} (UTC). If you asked for it, you need not do anything. If not, cancel it:`,
    },
    { text: 'Cancel the link', style: 'link', href: uri },
  ])
}

/** Builds the notice of wrong codes that were entered; its text serves both channels. */
export function buildGuessNotice(tenant: MessageTenant): RichMail {
  const name = isolateName(cleanName(tenant.name))
  const help = tenant.supportUrl ? ` If you need help: ${tenant.supportUrl}` : ''
  return toMail(tenant, `Wrong codes were entered for your account at ${name}`, [
    {
      text: `Several wrong codes were entered for your account at ${name}. None of them was accepted. For a day, new codes have ten digits, except in browsers in which you signed in before. If it was you, request a new code. Otherwise, you need not do anything. Do not share codes with anyone.${help}`,
    },
  ])
}

/** The content of a message with an enrollment link. `uri` is valid once. */
export type EnrollmentText = { tenant: MessageTenant; uri: string; lifetimeHours: number }

/** Builds the mail with an enrollment link. */
export function buildEnrollmentMail({ tenant, uri, lifetimeHours }: EnrollmentText): RichMail {
  const name = isolateName(cleanName(tenant.name))
  return toMail(tenant, `Create your passkey for ${name}`, [
    { text: `Open this link to create a passkey for ${name} on your device:` },
    { text: 'Create your passkey', style: 'link', href: uri },
    { text: `It can be used once and expires in ${lifetimeHours} hours.` },
    {
      text: 'If you did not expect this, ignore this message. Do not share the link with anyone.',
      style: 'aside',
    },
  ])
}

/** Builds the text message with an enrollment link. */
export const buildEnrollmentSms = ({ tenant, uri, lifetimeHours }: EnrollmentText): string =>
  composeSms(
    [cleanName(tenant.name)],
    [
      {
        keep: 20,
        write: (name) => `Create your passkey for ${name}: ${uri} Expires in ${lifetimeHours} hours.`,
      },
      { keep: 6, write: (name) => `Create your passkey for ${name}: ${uri}` },
      { keep: 0, write: () => `Create your passkey: ${uri}` },
    ],
  )

/** The content of a message with an invitation. `uri` is valid once, until `expiresAt`. */
export type InvitationText = {
  tenant: MessageTenant
  /** The name of the user who invites. */
  inviterName: string | null
  /** The name of the client that the person continues to. */
  clientName: string | null
  uri: string
  expiresAt: Date
}

/** Builds the mail with an invitation. */
export function buildInvitationMail(invitation: InvitationText): RichMail {
  const { tenant, uri, expiresAt } = invitation
  const name = isolateName(cleanName(tenant.name))
  // Users choose their names.
  const inviter = isolateName(cleanClientName(invitation.inviterName ?? ''))
  const client = isolateName(cleanClientName(invitation.clientName ?? ''))
  const subject = inviter ? `${inviter} invites you to ${name}` : `You are invited to ${name}`
  return toMail(tenant, subject, [
    { text: `${subject}${client && `, to use ${client}`}. Open this link to accept:` },
    { text: 'See the invitation', style: 'link', href: uri },
    { text: `It can be used once and expires on ${EXPIRY.format(expiresAt)} UTC.` },
    {
      text: 'If you did not expect this, ignore this message. Do not share the link with anyone.',
      style: 'aside',
    },
  ])
}
