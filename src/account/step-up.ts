import { requireNoEscalation, requireOwnAccount } from '../access/require-scope.ts'
import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { takeAnnouncedChange } from '../coordination/person-budgets.ts'
import { NotFound, StepUpRequired } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import { ACR_MFA, ACR_OTP, ACR_PASSWORD } from '../model/sign-in-methods.ts'
import { computeAcr, isTwoFactorAcr } from '../sessions/acr.ts'
import { hasTwoFactorsSince, type SessionProof } from '../sessions/proofs.ts'
import { requiresTwoFactors, selectPolicy } from '../tenants/second-factor-policy.ts'
import { selectStepUp } from './account.sql.ts'

/** The maximum age of the sign-in for changes of sign-in methods: a token alone may have been stolen. */
export const STEP_UP_MAX_AGE_SECONDS = 15 * 60

/** How the user signed in: the methods of the grant, or the proofs of the session on an account page, which has no grant. */
type Authentication = { grantAmr: string[] | null; proofs: SessionProof[] | null }

const isTwoFactor = ({ grantAmr, proofs }: Authentication, since: Date): boolean =>
  grantAmr ? isTwoFactorAcr(computeAcr(grantAmr)) : hasTwoFactorsSince(proofs ?? [], since)

/** Whether the sign-in was by an old password alone, which others may know. */
function isPasswordAlone({ grantAmr, proofs }: Authentication, since: Date): boolean {
  const given = grantAmr
    ? [grantAmr]
    : (proofs ?? []).filter(({ at }) => new Date(at) >= since).map(({ amr }) => amr)
  return given.length > 0 && given.every((amr) => computeAcr(amr) === ACR_PASSWORD)
}

/**
 * Requires a recent sign-in of the calling user (RFC 9470), by more than an old password, and by two factors where the
 * tenant requires them, for the grant of the token; refreshing the token does not count as one. For users with roles the token must also
 * have all scopes of the roles, so that an application without them cannot take over an administrator's
 * account. Returns the user and the session. One statement. Throws Unauthenticated, NotFound,
 * Forbidden and StepUpRequired.
 */
export async function requireRecentSignIn(
  ctx: Ctx,
  now = new Date(),
): Promise<{ userId: string; sessionId: string }> {
  const basis = requireOwnAccount(ctx)
  const { userId, sessionId } = basis
  const since = new Date(now.getTime() - STEP_UP_MAX_AGE_SECONDS * 1000)
  const access = await selectStepUp(ctx.db, basis, { since, now })
  if (!access) throw new NotFound('user')
  requireNoEscalation(ctx, getRoleScopes(access.roles))
  const needsTwoFactors = requiresTwoFactors(selectPolicy(await findTenant(ctx.tenant)), access.roles)
  const isTooWeak = isPasswordAlone(access, since)
  if (sessionId === null || !access.isRecent || isTooWeak || (needsTwoFactors && !isTwoFactor(access, since)))
    throw new StepUpRequired(STEP_UP_MAX_AGE_SECONDS, needsTwoFactors ? ACR_MFA : isTooWeak ? ACR_OTP : null)
  return { userId, sessionId }
}

/**
 * Also counts the change: most of these changes send the user a message. Throws
 * RateLimited too.
 */
export async function requireStepUp(
  ctx: Ctx,
  now = new Date(),
): Promise<{ userId: string; sessionId: string }> {
  const owner = await requireRecentSignIn(ctx, now)
  takeAnnouncedChange(ctx.tenant, requireOwnAccount(ctx))
  return owner
}
