import { invalidateTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { findTxtRecords } from '../core/network/txt-records.ts'
import { addSeconds } from '../core/time.ts'
import { toAppError } from '../core/to-app-error.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { OrganizationDomain } from '../generated/prisma/client.ts'
import type { DomainProblem } from './organization-domains.fields.ts'
import { lockDomain } from './organization-domains.sql.ts'

const DAY_SECONDS = 86_400
/** How often the record of a proven domain is looked up, and how often while it is not found. */
const INTERVAL_SECONDS = 7 * DAY_SECONDS
const RETRY_SECONDS = DAY_SECONDS
/** How long a domain stays proven without its record. */
const GRACE_SECONDS = 7 * DAY_SECONDS

type Checked = Pick<OrganizationDomain, 'verifiedAt' | 'expiresAt'>
type Change = Partial<Checked> &
  Pick<OrganizationDomain, 'problem' | 'checkedAt'> & { nextCheckAt?: Date | null }

/**
 * What a check changes. The grace period begins when the DNS answers without the record: an outage of the DNS ends
 * nothing.
 */
export function decideCheck(
  { verifiedAt, expiresAt }: Checked,
  problem: DomainProblem | null,
  now: Date,
): Change {
  const checked = { problem, checkedAt: now }
  if (problem === null)
    return {
      ...checked,
      verifiedAt: verifiedAt ?? now,
      expiresAt: null,
      nextCheckAt: addSeconds(now, INTERVAL_SECONDS),
    }
  if (verifiedAt === null) return checked
  const retry = { ...checked, nextCheckAt: addSeconds(now, RETRY_SECONDS) }
  if (problem === 'unanswered') return retry
  if (expiresAt === null) return { ...retry, expiresAt: addSeconds(now, GRACE_SECONDS) }
  if (expiresAt > now) return retry
  return { ...checked, verifiedAt: null, expiresAt: null, nextCheckAt: null }
}

async function findProblem({
  recordName,
  recordValue,
}: Pick<OrganizationDomain, 'recordName' | 'recordValue'>): Promise<DomainProblem | null> {
  const values = await findTxtRecords(recordName)
  if (values === null) return 'unanswered'
  if (values.some((value) => value.trim() === recordValue)) return null
  return values.length === 0 ? 'missing' : 'different'
}

function toEventType(before: Checked, after: Change) {
  if (!before.verifiedAt && after.verifiedAt) return 'organization_domain.verified' as const
  if (before.verifiedAt && after.verifiedAt === null) return 'organization_domain.expired' as const
  return null
}

/**
 * Looks up the record of a domain and stores what follows. Throws NotFound, and Conflict when another organization of the
 * tenant has proven the domain.
 */
export async function checkDomain(
  ctx: Ctx,
  domain: Pick<OrganizationDomain, 'id' | 'recordName' | 'recordValue'>,
  now = new Date(),
): Promise<OrganizationDomain> {
  const problem = await findProblem(domain)
  const { id } = domain
  return ctx.db
    .transaction(async (tx) => {
      const before = await lockDomain(tx, id)
      if (!before) throw new NotFound('domain')
      const change = decideCheck(before, problem, now)
      const about = { organizationId: before.organizationId, organizationDomainId: id }
      const type = toEventType(before, change)
      if (type) {
        await recordEvents(tx, ctx, [createEvent(type, about, { domain: before.domain })])
        invalidateTenant(tx)
      } else if (!before.expiresAt && change.expiresAt)
        await recordEvents(tx, ctx, [
          createEvent('organization_domain.expiring', about, {
            domain: before.domain,
            expires_at: change.expiresAt.toISOString(),
          }),
        ])
      return tx.prisma.organizationDomain.update({
        where: { tenantId_id: { tenantId: ctx.tenant, id } },
        data: { ...change, ...(type && { updatedAt: now }) },
      })
    })
    .catch((error: unknown) => {
      if (toAppError(error) instanceof Conflict)
        throw new Conflict([], 'Another organization of the tenant has proven the domain.')
      throw error
    })
}
