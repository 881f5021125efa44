import type { Ctx } from '../context/context.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { sha256 } from '../core/crypto.ts'
import { Forbidden } from '../core/errors.ts'
import { createProvenEnrollment } from '../credentials/enrollment-tokens.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { shareOrganization } from '../organizations/organizations.sql.ts'
import { parseAddress } from '../passcodes/passcodes.fields.ts'
import { signInByAddress } from '../passcodes/passcodes.ts'
import { enterAsOwner } from '../passcodes/proven-address.ts'
import type { TermsConsent } from '../sign-up/terms-consent.ts'
import { addRoles } from '../users/roles.ts'
import { enterOrganization, isInviterPermitted } from './enter-organization.ts'
import { HIDDEN_COLUMNS, type InvitationRow } from './read-invitations.ts'

/** The invitation of a link, and whether a user has the address. */
export type AcceptableInvitation = InvitationRow & { hasUser: boolean }

/** Selects the invitation of a link that works. */
const toAcceptable = ({ tenant }: Ctx, token: string, now: Date) => ({
  tenantId: tenant,
  tokenHash: sha256(token),
  acceptedAt: null,
  revoked: false,
  expiresAt: { gt: now },
})

/** The invitation of a link; null when the link does not work. Counts in the limit of the network. */
export async function findAcceptableInvitation(
  ctx: Ctx,
  token: string,
): Promise<AcceptableInvitation | null> {
  await consumeLimit('openInvitation', ctx.tenant, ctx.ip)
  const { prisma } = ctx.db
  const found = await prisma.invitation.findFirst({
    where: toAcceptable(ctx, token, new Date()),
    omit: { ...HIDDEN_COLUMNS, emailKey: false },
  })
  if (!found || !(await isInviterPermitted(ctx.db, found))) return null
  const { emailKey, ...invitation } = found
  const users = await prisma.user.count({ where: { tenantId: ctx.tenant, emailKey } })
  return { ...invitation, hasUser: users > 0 }
}

/** What a new user entered. */
export type NewUserForm = { fields: Record<string, unknown>; terms: TermsConsent }

/** A new user is signed in and may create a passkey; an existing user signs in as always. */
export type AcceptedInvitation = {
  userId: string
  clientId: string | null
  signedIn: { sessionId: string; token: string; enrollmentToken: string } | null
}

/**
 * Accepts an invitation, once, in one transaction: the link proves the address, as a code does. A user who has the
 * address gets the roles; otherwise a user with the roles is created and signed in. No existing user is signed in,
 * because the link lives longer than a code. Null when the link does not work any more. Throws InvalidInput, and
 * UserLocked when the user of the address may not sign in.
 */
export async function acceptInvitation(
  ctx: Ctx,
  token: string,
  invitation: AcceptableInvitation,
  { fields, terms }: NewUserForm,
): Promise<AcceptedInvitation | null> {
  const now = new Date()
  const { id, email, name, roles, locale, clientId, organizationId } = invitation
  const address = parseAddress(email)
  if (!address) return null
  const person = {
    address,
    fields: { ...(name !== null && { name }), ...(locale !== null && { locale }), ...fields },
    columns: { ...terms, roles },
    origin: { origin: 'invitation' } as const,
    clientId,
  }
  return enterAsOwner<AcceptedInvitation>(
    ctx,
    person,
    async (tx) => {
      // Before the invitation, as a deletion of the organization locks them.
      if (organizationId && !(await shareOrganization(tx, organizationId))) return false
      const { count } = await tx.prisma.invitation.updateMany({
        where: toAcceptable(ctx, token, now),
        data: { acceptedAt: now, tokenHash: null },
      })
      return count > 0 && (await isInviterPermitted(tx, invitation))
    },
    async (tx, userCtx, user, isCreated) => {
      // The user was deleted while the page was open: the form asked for nothing.
      if (isCreated && invitation.hasUser)
        throw new Forbidden('This page was out of date. Open the link of the invitation again.')
      const [accepted] = await tx.prisma.invitation.updateManyAndReturn({
        where: { tenantId: ctx.tenant, id },
        data: { userId: user.id },
      })
      if (accepted) await enterOrganization(tx, userCtx, accepted, user.id)
      if (!isCreated) await addRoles(tx, userCtx, user.id, roles)
      await recordEvents(tx, userCtx, [
        createEvent('invitation.accepted', { userId: user.id, invitationId: id, organizationId }),
      ])
      const entered = { userId: user.id, clientId }
      if (!isCreated) return { ...entered, signedIn: null }
      const { session, token } = await signInByAddress(
        tx,
        userCtx,
        { user, channel: address.channel, present: [] },
        now,
      )
      const enrollmentToken = await createProvenEnrollment(tx, userCtx, user.id, now)
      return { ...entered, signedIn: { sessionId: session.id, token, enrollmentToken } }
    },
    now,
  )
}
