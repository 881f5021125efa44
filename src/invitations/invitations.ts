import { findClient } from '../access/client-cache.ts'
import { resolveRoles } from '../access/held-roles.sql.ts'
import { loadMessageFrame } from '../access/message-tenant.ts'
import { requireGrantableRoles, requireNoEscalation } from '../access/require-scope.ts'
import { findTenant } from '../access/tenant-cache.ts'
import { isAdministered, requireOrganizationControl } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { takeInvitation } from '../coordination/person-budgets.ts'
import { newId, randomToken, sha256 } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { Conflict, NotFound, RateLimited } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import { addSeconds } from '../core/time.ts'
import type { Db } from '../database/handle.ts'
import { deliverMail } from '../delivery/mail.ts'
import { buildInvitationMail } from '../delivery/messages/invitation.ts'
import { hashAddress } from '../events/address-hash.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Invitation as InvitationModel } from '../generated/prisma/client.ts'
import { localizeClient } from '../languages/localize-client.ts'
import { INVITATION_LIFETIME_SECONDS } from '../model/sign-up.ts'
import { getCallerId } from '../organizations/memberships.ts'
import { getOrganization } from '../organizations/organizations.ts'
import { requireAssignable } from '../permissions/role-assignments.ts'
import { toEmailKey } from '../schema/address-keys.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { InvitationCreate, InvitationResend } from './invitations.fields.ts'
import {
  getInvitation,
  HIDDEN_COLUMNS,
  type Invitation,
  type InvitationRow,
  toInvitation,
} from './read-invitations.ts'

/** Seconds between two messages of an invitation. */
const RETRY_SECONDS = 30
/** Messages of an invitation. */
const MAX_SENDS = 20

/** The subjects of events of an invitation. */
const toAbout = ({ id, organizationId }: Pick<InvitationModel, 'id' | 'organizationId'>) => ({
  invitationId: id,
  organizationId,
})

/** Selects an invitation that can be accepted or sent again. */
const toOpen = ({ tenant }: Ctx, id: string) => ({ tenantId: tenant, id, acceptedAt: null, revoked: false })

/** The address that gets the mail. */
const toRecipient = (email: string): string => toEmailKey(email) ?? email

/** Counts the mail of an invitation. Throws RateLimited. */
export const takeMail = (ctx: Ctx, email: string): void =>
  takeInvitation(ctx, hashAddress(ctx.tenant, toRecipient(email)).toString('base64url'))

/** The URL for a token. It is built from BASE_URL, never from request headers. */
const buildInvitationUri = (tenant: string, token: string): string =>
  `${env.baseUrl}/${tenant}/invitation?token=${token}`

/** The name of the user who invites; null for a client. */
async function findInviterName(ctx: Ctx): Promise<string | null> {
  const { tenant, actor } = ctx
  if (actor.kind !== 'user' || actor.tenant !== tenant) return null
  const where = { tenantId_id: { tenantId: tenant, id: actor.userId } }
  return (await ctx.db.prisma.user.findUnique({ where, select: { name: true } }))?.name ?? null
}

/** Sends the mail with the link. Throws Unavailable. */
export async function deliverInvitation(ctx: Ctx, invitation: InvitationRow, uri: string): Promise<void> {
  const { clientId, inviterName, email, expiresAt, locale } = invitation
  const frame = await loadMessageFrame(ctx, locale)
  const client = clientId ? await findClient(ctx.tenant, clientId) : null
  const clientName = client && localizeClient(client, frame.words.language).name
  await deliverMail({
    to: toRecipient(email),
    ...buildInvitationMail({ ...frame, inviterName, clientName, uri, expiresAt }),
  })
}

/** What is stored of an invitation, besides what follows from it. */
type NewInvitation = Pick<InvitationModel, 'email' | 'roles' | 'inviterName'> &
  Partial<
    Pick<
      InvitationModel,
      'name' | 'note' | 'locale' | 'clientId' | 'organizationId' | 'appRoleIds' | 'isAdministrator'
    >
  > & {
    expiresInSeconds?: number | null | undefined
  }

/**
 * Stores an invitation with its event, in a transaction of its tenant, whose settings have the lifetime; returns the link,
 * which is not stored.
 */
export async function insertInvitation(
  tx: Db,
  ctx: Ctx,
  { email, roles, expiresInSeconds, ...given }: NewInvitation,
  settings: { invitationLifetimeSeconds?: number | null | undefined } | null,
  now: Date,
): Promise<{ invitation: InvitationRow; uri: string }> {
  const token = randomToken()
  const lifetimeSeconds =
    expiresInSeconds ?? settings?.invitationLifetimeSeconds ?? INVITATION_LIFETIME_SECONDS.standard
  const invitation = await tx.prisma.invitation.create({
    data: {
      ...given,
      tenantId: ctx.tenant,
      id: newId('invitation'),
      tokenHash: sha256(token),
      email: email.normalize('NFC'),
      emailKey: toRecipient(email),
      invitedBy: getCallerId(ctx),
      byAdministrator: !ctx.scopes.has('organizations:write') && isAdministered(ctx, given.organizationId),
      roles,
      sentAt: now,
      expiresAt: addSeconds(now, lifetimeSeconds),
      createdAt: now,
    },
    omit: HIDDEN_COLUMNS,
  })
  await recordEvents(tx, ctx, [
    createEvent(
      'invitation.created',
      { invitationId: invitation.id, organizationId: given.organizationId },
      { roles: roles.join(' ') },
    ),
  ])
  return { invitation, uri: buildInvitationUri(ctx.tenant, token) }
}

/** Requires the right to give what an invitation gives. Throws Forbidden. */
async function requireGiving(
  ctx: Ctx,
  { roles, organizationId, appRoleIds = [] }: Pick<NewInvitation, 'roles' | 'organizationId' | 'appRoleIds'>,
): Promise<void> {
  requireNoEscalation(ctx, getRoleScopes(await resolveRoles(ctx.db, roles)))
  if (!organizationId) return
  requireOrganizationControl(ctx, organizationId, 'organizations:write')
  if (appRoleIds.length > 0) requireOrganizationControl(ctx, organizationId, 'roles:write')
}

/** Stores an invitation with its event; returns the link, which is not stored. */
async function storeInvitation(ctx: Ctx, input: unknown, now: Date) {
  const given = parseInput(InvitationCreate, input)
  await requireGrantableRoles(ctx.db, ctx, given.roles)
  await requireGiving(ctx, given)
  if (given.organizationId) await getOrganization(ctx, given.organizationId)
  const clientId = given.clientId ?? null
  if (clientId !== null && !(await findClient(ctx.tenant, clientId))) throw new NotFound('client')
  const inviterName = await findInviterName(ctx)
  const tenant = await findTenant(ctx.tenant)
  takeMail(ctx, given.email)
  return ctx.db.transaction(async (tx) => {
    await requireGrantableRoles(tx, ctx, given.roles)
    const member = { kind: 'member', organizationId: given.organizationId ?? null } as const
    await requireAssignable(tx, given.appRoleIds, member)
    return insertInvitation(tx, ctx, { ...given, inviterName }, tenant, now)
  })
}

/**
 * Invites a person by a mail with a link. The link is in the mail only: who opens it has proven the address.
 * Throws InvalidInput, Forbidden (a role permits more than the caller's scopes), RateLimited (ten mails in an
 * hour for each address, 1000 of a user who invites), and Unavailable when the mail could not be delivered; then there is no invitation.
 */
export async function createInvitation(ctx: Ctx, input: unknown, now = new Date()): Promise<Invitation> {
  const { invitation, uri } = await storeInvitation(ctx, input, now)
  await deliverInvitation(ctx, invitation, uri).catch(async (error: unknown) => {
    await ctx.db.transaction(async (tx) => {
      await tx.prisma.invitation.deleteMany({ where: { tenantId: ctx.tenant, id: invitation.id } })
      await recordEvents(tx, ctx, [
        createEvent('invitation.failed', toAbout(invitation), { reason: 'delivery' }),
      ])
    })
    throw error
  })
  return toInvitation(invitation, now)
}

/**
 * Invites a person without a mail and returns the link. For the operator of the deployment only, because the link proves the
 * address.
 */
export async function createInvitationLink(
  ctx: Ctx,
  input: unknown,
): Promise<{ invitation: Invitation; uri: string }> {
  const now = new Date()
  const { invitation, uri } = await storeInvitation(ctx, input, now)
  return { invitation: toInvitation(invitation, now), uri }
}

/** Throws Conflict unless an invitation can still be accepted or sent again. */
function requireOpen({ status }: Invitation): void {
  if (status === 'accepted') throw new Conflict([], 'The invitation was accepted.')
  if (status === 'revoked') throw new Conflict([], 'The invitation was revoked.')
}

/**
 * Sends another mail, whose link replaces the former one; without expiresInSeconds it has the same lifetime. Throws
 * InvalidInput, NotFound, Conflict (accepted or revoked), Forbidden, RateLimited (one in 30 s, 20 in all, and those of
 * createInvitation), and
 * Unavailable.
 */
export async function resendInvitation(
  ctx: Ctx,
  id: string,
  input: unknown,
  now = new Date(),
): Promise<Invitation> {
  const { expiresInSeconds } = parseInput(InvitationResend, input === undefined ? {} : input)
  const former = await getInvitation(ctx, id)
  await requireGiving(ctx, former)
  requireOpen(former)
  const token = randomToken()
  const inviterName = await findInviterName(ctx)
  const lifetimeMs = expiresInSeconds
    ? expiresInSeconds * 1000
    : former.expiresAt.getTime() - former.sentAt.getTime()
  const renewed = await ctx.db.transaction(async (tx) => {
    const [row] = await tx.prisma.invitation.updateManyAndReturn({
      where: {
        ...toOpen(ctx, id),
        sentAt: { lte: addSeconds(now, -RETRY_SECONDS) },
        sendCount: { lt: MAX_SENDS },
      },
      data: {
        ...(inviterName !== null && { inviterName }),
        tokenHash: sha256(token),
        sentAt: now,
        sendCount: { increment: 1 },
        expiresAt: new Date(now.getTime() + lifetimeMs),
      },
      omit: HIDDEN_COLUMNS,
    })
    if (!row) return null
    takeMail(ctx, row.email)
    await recordEvents(tx, ctx, [createEvent('invitation.resent', toAbout(row))])
    return row
  })
  if (!renewed) {
    requireOpen(await getInvitation(ctx, id))
    throw new RateLimited(RETRY_SECONDS, 'Too many messages of this invitation.')
  }
  try {
    await deliverInvitation(ctx, renewed, buildInvitationUri(ctx.tenant, token))
  } catch (error) {
    await recordEvents(ctx.db, ctx, [
      createEvent('invitation.failed', toAbout(renewed), { reason: 'delivery' }),
    ])
    throw error
  }
  return toInvitation(renewed, now)
}

/**
 * Revokes an invitation: its link no longer works. Throws NotFound, Forbidden, and Conflict when it was accepted. A
 * revoked invitation stays revoked.
 */
export async function revokeInvitation(ctx: Ctx, id: string): Promise<{ revokedInvitationId: string }> {
  const former = await getInvitation(ctx, id)
  await requireGiving(ctx, former)
  const isRevoked = await ctx.db.transaction(async (tx) => {
    const { count } = await tx.prisma.invitation.updateMany({
      where: toOpen(ctx, id),
      data: { revoked: true, tokenHash: null },
    })
    if (count > 0) await recordEvents(tx, ctx, [createEvent('invitation.revoked', toAbout(former))])
    return count > 0
  })
  if (!isRevoked && (await getInvitation(ctx, id)).status === 'accepted')
    throw new Conflict([], 'The invitation was accepted.')
  return { revokedInvitationId: id }
}
