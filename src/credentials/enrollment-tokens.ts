import { requireAccountControl } from '../access/account-control.ts'
import { loadMessageFrame } from '../access/message-tenant.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { takeAnnouncedLink } from '../coordination/person-budgets.ts'
import { randomToken, readIdPrefix, sha256 } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { InvalidInput, NotFound, RateLimited, UserLocked } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import { addSeconds } from '../core/time.ts'
import type { Tx } from '../database/handle.ts'
import { deliverMail } from '../delivery/mail.ts'
import { buildEnrollmentMail, buildEnrollmentSms } from '../delivery/messages/enrollment-link.ts'
import { deliverSms } from '../delivery/sms.ts'
import type { NewEvent } from '../events/create-event.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { EnrollmentTokenCreate } from './credentials.fields.ts'
import { type Enrollee, lockEnrollee } from './enrollment.sql.ts'
import { announceRecovery } from './second-factors/recovery.ts'

/** Lifetime of a link: users read their mail within a day, and an old link is a risk. */
const TOKEN_LIFETIME_HOURS = 24
/** Seconds between two links to a user. */
const SEND_COOLDOWN_SECONDS = 30
/** Links to a user in an hour. */
const MAX_SENDS_PER_HOUR = 10

type Recipient = { channel: 'email' | 'sms'; to: string }

/**
 * The address to which a link is sent: the verified e-mail address, otherwise the verified phone number
 * without an extension. A link gives access to the account, so it is never sent to an unverified address.
 */
function selectRecipient({ email, phoneNumber }: Enrollee): Recipient {
  if (email !== null) return { channel: 'email', to: email }
  if (phoneNumber !== null && !phoneNumber.includes(';')) return { channel: 'sms', to: phoneNumber }
  throw new InvalidInput([
    {
      field: 'send',
      description:
        'the user has no verified e-mail address or phone number for the link: use false and deliver the link yourself',
    },
  ])
}

/** A private-use scheme (RFC 8252, section 7.1): the reversed host name, if it is a domain name. */
const computeDeepLinkScheme = (): string => {
  const labels = new URL(env.baseUrl).hostname.split('.').reverse()
  return labels.length > 1 && /^[a-z]/.test(labels[0] ?? '') ? labels.join('.') : 'vestibule.app'
}

/** The URL for a token. It is built from BASE_URL, never from request headers. */
function buildEnrollmentLinks(tenant: string, token: string): { uri: string; deepLink: string } {
  const path = `/${tenant}/enroll?token=${token}`
  return { uri: `${env.baseUrl}${path}`, deepLink: `${computeDeepLinkScheme()}:${path}` }
}

/**
 * Whether the user requests the token for the own account. Then the credential does not count as created by
 * an administrator. The user's API key does not show that the user is present.
 */
const isOwnUser = ({ actor, tenant }: Ctx, userId: string): boolean =>
  actor.kind === 'user' && actor.tenant === tenant && actor.userId === userId && actor.apiKeyId === undefined

/** How long a removed credential counts: as long as the longest waiting time. */
const REMOVAL_COUNTS_SECONDS = 30 * 86_400

/**
 * Whether the user has a credential, or had one in the last 30 days: otherwise a caller could remove it first, and the
 * link would be neither announced nor delayed.
 */
const hadCredential = (
  { hasCredential, credentialRemovedAt }: Pick<Enrollee, 'hasCredential' | 'credentialRemovedAt'>,
  now: Date,
): boolean =>
  hasCredential ||
  (credentialRemovedAt !== null && credentialRemovedAt > addSeconds(now, -REMOVAL_COUNTS_SECONDS))

async function storeEnrollmentToken(ctx: Ctx, userId: string, token: string, input: unknown, now: Date) {
  const { type, send } = parseInput(EnrollmentTokenCreate, input === undefined ? {} : input)
  if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
  const waitSeconds = (await findTenant(ctx.tenant))?.recoveryWaitingTime ?? 0
  return ctx.db.transaction(async (tx) => {
    const user = await lockEnrollee(tx, userId)
    if (!user) throw new NotFound('user')
    if (isOwnUser(ctx, userId)) requireNoEscalation(ctx, getRoleScopes(user.roles))
    else await requireAccountControl(tx, ctx, { id: userId, roles: user.roles })
    if (user.locked) throw new UserLocked()
    const recipient = send ? selectRecipient(user) : null
    const recovery =
      hadCredential(user, now) && !isOwnUser(ctx, userId)
        ? { cancelToken: randomToken(), usableAt: addSeconds(now, waitSeconds) }
        : null
    if (recovery && !send) takeAnnouncedLink(ctx.tenant, userId)
    if (recipient) await requireSendable(tx, userId, now)
    await replaceTokens(
      tx,
      ctx,
      {
        tokenHash: sha256(token),
        userId,
        type,
        sentTo: recipient?.to ?? null,
        byManagement: !isOwnUser(ctx, userId),
        usableAt: recovery && waitSeconds > 0 ? recovery.usableAt : null,
        cancelHash: recovery && sha256(recovery.cancelToken),
        createdAt: now,
        expiresAt: addSeconds(recovery?.usableAt ?? now, TOKEN_LIFETIME_HOURS * 3600),
      },
      createEvent(
        'credential.enrollment_created',
        { userId },
        { channel: recipient?.channel ?? null, waitSeconds: (recovery && waitSeconds) ?? undefined },
      ),
    )
    return { user, recipient, recovery }
  })
}

/** Throws RateLimited when the user, who is locked, has been sent too many links. */
async function requireSendable(tx: Tx, userId: string, now: Date): Promise<void> {
  const sent = await tx.prisma.enrollmentToken.findMany({
    where: { tenantId: tx.tenant, userId, sentTo: { not: null }, createdAt: { gt: addSeconds(now, -3600) } },
    select: { createdAt: true },
    orderBy: { createdAt: 'asc' },
  })
  const times = sent.map(({ createdAt }) => createdAt.getTime())
  const waitUntil = Math.max(
    (times.at(-1) ?? 0) + SEND_COOLDOWN_SECONDS * 1000,
    times.length >= MAX_SENDS_PER_HOUR ? (times[0] ?? 0) + 3_600_000 : 0,
  )
  if (waitUntil > now.getTime())
    throw new RateLimited(Math.ceil((waitUntil - now.getTime()) / 1000), 'Too many links for this user.')
}

type NewToken = Omit<Prisma.EnrollmentTokenUncheckedCreateInput, 'tenantId' | 'createdAt'> & {
  createdAt: Date
}

/**
 * Stores a token of a user, who is locked, and invalidates earlier ones. Sent links stay until they expire, because
 * they count toward the budget. Others are deleted at once, so that a caller who makes many keeps one.
 */
async function replaceTokens(tx: Tx, ctx: Ctx, token: NewToken, event: NewEvent): Promise<void> {
  const { tenant: tenantId, prisma } = tx
  const { userId, createdAt } = token
  await prisma.enrollmentToken.updateMany({
    where: { tenantId, userId, sentTo: { not: null }, usedAt: null },
    data: { usedAt: createdAt, challenge: null },
  })
  await prisma.enrollmentToken.deleteMany({ where: { tenantId, userId, sentTo: null } })
  await prisma.enrollmentToken.create({ data: { ...token, tenantId } })
  await recordEvents(tx, ctx, [event])
}

/** Sends the link. Throws Unavailable. */
async function deliverEnrollmentLink(
  ctx: Ctx,
  token: string,
  { channel, to }: Recipient,
  { locale }: Enrollee,
): Promise<void> {
  const text = {
    ...(await loadMessageFrame(ctx, locale)),
    uri: buildEnrollmentLinks(ctx.tenant, token).uri,
    lifetimeHours: TOKEN_LIFETIME_HOURS,
  }
  if (channel === 'email') await deliverMail({ to, ...buildEnrollmentMail(text) })
  else await deliverSms({ to, body: buildEnrollmentSms(text), servers: text.tenant.servers })
}

/** Deletes a token whose messages could not be sent, with its event. */
async function withdrawUndelivered(
  ctx: Ctx,
  userId: string,
  token: string,
  channel: Recipient['channel'] | null,
): Promise<void> {
  const where = { tenantId: ctx.tenant, tokenHash: sha256(token) }
  await ctx.db.transaction(async (tx) => {
    const { count } = await tx.prisma.enrollmentToken.deleteMany({ where })
    if (count > 0)
      await recordEvents(tx, ctx, [
        createEvent('credential.enrollment_failed', { userId }, { channel, reason: 'delivery' }),
      ])
  })
}

export type EnrollmentLinks = {
  token: string
  uri: string
  deepLink: string
  /** From when it works. */
  usableAt: Date
}

/**
 * Creates a token with which a user enrolls a credential, once, within a day. It invalidates earlier tokens. For a
 * user who has a credential, or had one in the last 30 days, the token of another caller works after the waiting time
 * of the tenant. It is announced to every verified address of the user, who can cancel it, before the call returns.
 * Unless `send` is false, the link is sent to the verified e-mail address or phone number of the user; the
 * caller gets it in any case. Throws InvalidInput (also without an address), NotFound, Forbidden (a user
 * whose roles permit more than the caller's scopes), UserLocked, RateLimited (one link in 30 s and ten in an
 * hour per user), and Unavailable when the link or its announcement could not be delivered.
 */
export async function createCredentialEnrollmentToken(
  ctx: Ctx,
  userId: string,
  input: unknown,
): Promise<EnrollmentLinks> {
  const now = new Date()
  const token = randomToken()
  const { user, recipient, recovery } = await storeEnrollmentToken(ctx, userId, token, input, now)
  try {
    // A link that nobody can cancel must not work, so nobody learns it before it is announced.
    if (recovery) await announceRecovery(ctx, user, recovery)
    if (recipient) await deliverEnrollmentLink(ctx, token, recipient, user)
  } catch (error) {
    await withdrawUndelivered(ctx, userId, token, recipient?.channel ?? null)
    throw error
  }
  return { token, ...buildEnrollmentLinks(ctx.tenant, token), usableAt: recovery?.usableAt ?? now }
}

/**
 * Creates a token for a user who has just proven to be the one, inside the caller's transaction, which has locked
 * the user. It is valid for an hour.
 */
export async function createProvenEnrollment(tx: Tx, ctx: Ctx, userId: string, now: Date): Promise<string> {
  const token = randomToken()
  const stored = {
    tokenHash: sha256(token),
    userId,
    type: 'public-key',
    byManagement: false,
    createdAt: now,
    expiresAt: addSeconds(now, 3600),
  }
  await replaceTokens(
    tx,
    ctx,
    stored,
    createEvent('credential.enrollment_created', { userId }, { channel: null }),
  )
  return token
}
