import { prefixOf, randomToken, sha256 } from '../crypto.ts'
import { type Ctx, scopesOfRoles } from '../ctx.ts'
import { inTransaction, sql } from '../db.ts'
import { deliverMail } from '../delivery/mail.ts'
import { deliverSms } from '../delivery/sms.ts'
import { enrolmentMail, enrolmentSms } from '../delivery/texts.ts'
import { env } from '../env.ts'
import { InvalidInput, NotFound, RateLimited, UserLocked } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import { requireNoEscalation } from '../scopes.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import { EnrollmentTokenCreate } from './credentials.fields.ts'
import { type Enrollee, holdEnrollee, insertToken, withdrawToken } from './enrolment.sql.ts'

/** A person reads their mail within a day; a link that lies about for longer is for whoever finds it. */
const LIFETIME_HOURS = 24

type Recipient = { channel: 'email' | 'sms'; to: string }

/**
 * Where a link goes: the person's proven e-mail address, else their proven number, unless that is an extension behind a
 * switchboard. An unproven address may be anybody's, and the link lets whoever opens it into the account.
 */
function recipientOf({ email, phoneNumber }: Enrollee): Recipient {
  if (email !== null) return { channel: 'email', to: email }
  if (phoneNumber !== null && !phoneNumber.includes(';')) return { channel: 'sms', to: phoneNumber }
  throw new InvalidInput([
    {
      field: 'send',
      description:
        'the user has no verified e-mail address or phone number to send a link to: give false, and deliver the link yourself',
    },
  ])
}

/** A scheme of the operator's own (RFC 8252, section 7.1): the host's name reversed, where it is a domain's. */
const deepLinkScheme = (): string => {
  const labels = new URL(env.baseUrl).hostname.split('.').reverse()
  return labels.length > 1 && /^[a-z]/.test(labels[0] ?? '') ? labels.join('.') : 'vestibule.app'
}

/** Where the person goes with a token. Made of BASE_URL alone, whatever the request's headers say. */
function linksOf(tenant: string, token: string): { uri: string; deepLink: string } {
  const path = `/${tenant}/enroll?token=${token}`
  return { uri: `${env.baseUrl}${path}`, deepLink: `${deepLinkScheme()}:${path}` }
}

/** Whether people ask about themselves; what they enrol then, no administrator vouches for. */
const isOwn = ({ actor, tenant }: Ctx, userId: string): boolean =>
  actor.kind === 'user' && actor.tenant === tenant && actor.userId === userId

async function store(ctx: Ctx, userId: string, token: string, input: unknown, now: Date) {
  const { type, send } = parse(EnrollmentTokenCreate, input ?? {})
  if (prefixOf(userId) !== 'user') throw new NotFound('user')
  const recipient = await inTransaction(async (sql) => {
    const user = await holdEnrollee(sql, ctx.tenant, userId)
    if (!user) throw new NotFound('user')
    requireNoEscalation(ctx, scopesOfRoles(user.roles))
    if (user.locked) throw new UserLocked()
    const recipient = send ? recipientOf(user) : null
    const { isMade, waitUntil } = await insertToken(
      sql,
      ctx.tenant,
      {
        tokenHash: sha256(token),
        userId,
        type,
        sentTo: recipient?.to ?? null,
        byManagement: !isOwn(ctx, userId),
        now,
        expiresAt: new Date(now.getTime() + LIFETIME_HOURS * 3_600_000),
      },
      toEventRow(ctx, {
        type: 'credential.enrollment_created',
        userId,
        detail: { channel: recipient?.channel ?? null },
      }),
    )
    if (!isMade)
      throw new RateLimited(
        Math.max(1, Math.ceil(((waitUntil ?? now).getTime() - now.getTime()) / 1000)),
        'Too many links for this user.',
      )
    return recipient
  })
  wakeReaders(ctx.tenant)
  return recipient
}

/** Sends the link; when that fails, takes the token back and throws Unavailable. */
async function deliver(ctx: Ctx, userId: string, token: string, { channel, to }: Recipient): Promise<void> {
  const tenantName = (await findTenant(ctx.tenant))?.friendlyName ?? ctx.tenant
  const text = { tenantName, uri: linksOf(ctx.tenant, token).uri, lifetimeHours: LIFETIME_HOURS }
  try {
    if (channel === 'email') await deliverMail({ to, ...enrolmentMail(text) })
    else await deliverSms({ to, body: enrolmentSms(text) })
  } catch (error) {
    const detail = { channel, reason: 'delivery' }
    const event = toEventRow(ctx, { type: 'credential.enrollment_failed', userId, detail })
    await withdrawToken(sql, ctx.tenant, sha256(token), event)
    wakeReaders(ctx.tenant)
    throw error
  }
}

export type EnrollmentLinks = { token: string; uri: string; deepLink: string }

/**
 * Makes a token that lets a person enrol a credential, once, within a day; it voids those before it (spec: Create
 * credential enrollment token). Unless `send` is false, the link goes to the user's verified e-mail address, else to
 * their verified phone number; the caller gets it as well, either way. Throws InvalidInput (also with nowhere to send
 * to), NotFound, Forbidden (a user whose roles permit what the caller may not), UserLocked, RateLimited (a link in 30 s
 * and ten in an hour for each user), and Unavailable when the message could not be handed over.
 */
export async function createCredentialEnrollmentToken(
  ctx: Ctx,
  userId: string,
  input: unknown,
  now = new Date(),
): Promise<EnrollmentLinks> {
  const token = randomToken()
  const recipient = await store(ctx, userId, token, input, now)
  if (recipient) await deliver(ctx, userId, token, recipient)
  return { token, ...linksOf(ctx.tenant, token) }
}
