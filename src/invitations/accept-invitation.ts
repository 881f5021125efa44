import type { Ctx } from '../context/context.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { sha256 } from '../core/crypto.ts'
import { Forbidden } from '../core/errors.ts'
import { createProvenEnrollment } from '../credentials/enrollment-tokens.ts'
import { invitationAccepted } from '../events/invitation-events.ts'
import { recordEvents } from '../events/log.ts'
import { parseAddress } from '../passcodes/passcodes.fields.ts'
import { signInByAddress } from '../passcodes/passcodes.ts'
import { enterAsOwner } from '../passcodes/proven-address.ts'
import type { TermsConsent } from '../sign-up/terms-consent.ts'
import { addRoles } from '../users/roles.ts'
import { type AcceptableInvitation, consumeInvitation, selectAcceptable } from './invitations.sql.ts'

export type { AcceptableInvitation }

/** The invitation of a link; null when the link does not work. Counts in the limit of the network. */
export async function findAcceptableInvitation(
  ctx: Ctx,
  token: string,
  now = new Date(),
): Promise<AcceptableInvitation | null> {
  await consumeLimit('openInvitation', ctx.tenant, ctx.ip)
  return selectAcceptable(ctx.db, sha256(token), now)
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
  now = new Date(),
): Promise<AcceptedInvitation | null> {
  const { id, email, name, roles, locale, clientId } = invitation
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
    (tx) => consumeInvitation(tx, sha256(token), now),
    async (tx, userCtx, user, isCreated) => {
      // The user was deleted while the page was open: the form asked for nothing.
      if (isCreated && invitation.hasUser)
        throw new Forbidden('This page was out of date. Open the link of the invitation again.')
      await tx.prisma.invitation.updateMany({
        where: { tenantId: ctx.tenant, id },
        data: { userId: user.id },
      })
      if (!isCreated) await addRoles(tx, userCtx, user.id, roles)
      await recordEvents(tx, userCtx, [invitationAccepted(id, user.id)])
      const accepted = { userId: user.id, clientId }
      if (!isCreated) return { ...accepted, signedIn: null }
      const { session, token } = await signInByAddress(
        tx,
        userCtx,
        { user, channel: address.channel, present: [] },
        now,
      )
      const enrollmentToken = await createProvenEnrollment(tx, userCtx, user.id, now)
      return { ...accepted, signedIn: { sessionId: session.id, token, enrollmentToken } }
    },
    now,
  )
}
