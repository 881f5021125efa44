import { findTenant } from '../../access/tenant-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { newId, seal, unseal } from '../../core/crypto.ts'
import { InvalidCredential, InvalidInput } from '../../core/errors.ts'
import { addSeconds } from '../../core/time.ts'
import { type NewSecondFactor, storeSecondFactor } from './second-factors.ts'
import { buildTotpUri, createTotpSecret, matchTimeStep, renderQrCode, toTotpPurpose } from './totp.ts'

/** How long a user may take to enter the first code. */
const ENROLLMENT_LIFETIME_SECONDS = 15 * 60

/** Whose app it becomes, and where it is confirmed: in the session or interaction that created it only. */
export type TotpOwner = { userId: string; place: string }

/** A key for an authenticator app, which counts once a code of it was entered. */
export type TotpEnrollment = { token: string; secret: string; uri: string; qrCode: string }

type Pending = { id: string; secret: string; expiresAt: string }

const toPendingPurpose = (tenant: string, { userId, place }: TotpOwner): string =>
  ['totp-enrollment', tenant, userId, place].join(':')

/**
 * Creates a key. Nothing is stored: the token has the key, sealed for this owner. `accountName` is shown in the
 * app.
 */
export async function startTotpEnrollment(
  ctx: Ctx,
  owner: TotpOwner,
  accountName: string,
  now = new Date(),
): Promise<TotpEnrollment> {
  const secret = createTotpSecret()
  const expiresAt = addSeconds(now, ENROLLMENT_LIFETIME_SECONDS).toISOString()
  const pending: Pending = { id: newId('cred'), secret, expiresAt }
  const token = seal(toPendingPurpose(ctx.tenant, owner), JSON.stringify(pending))
  return { token, ...(await describeTotp(ctx.tenant, secret, accountName)) }
}

async function describeTotp(
  tenant: string,
  secret: string,
  accountName: string,
): Promise<Pick<TotpEnrollment, 'secret' | 'uri' | 'qrCode'>> {
  const issuer = (await findTenant(tenant))?.friendlyName ?? tenant
  const uri = buildTotpUri(secret, { issuer, accountName })
  return { secret, uri, qrCode: renderQrCode(uri) }
}

/** The key that a token has; null when it has expired or is not of this owner. */
function openPending(tenant: string, owner: TotpOwner, token: string, now: Date): Pending | null {
  try {
    const pending = JSON.parse(unseal(toPendingPurpose(tenant, owner), token).toString()) as Pending
    return new Date(pending.expiresAt) > now ? pending : null
  } catch {
    return null
  }
}

/** The key that a token has, as it was shown; null when it has expired or is not of this owner. */
export async function showTotpEnrollment(
  ctx: Ctx,
  owner: TotpOwner,
  { token, accountName }: { token: string; accountName: string },
  now = new Date(),
): Promise<TotpEnrollment | null> {
  const pending = openPending(ctx.tenant, owner, token, now)
  return pending && { token, ...(await describeTotp(ctx.tenant, pending.secret, accountName)) }
}

/** The error of a wrong code. */
export const createWrongTotpError = () => new InvalidCredential('The code is wrong or has expired.')

/**
 * The authenticator app of a token, as it is stored, by the first code that it shows. That code cannot be used again.
 * Throws InvalidInput about the token, and InvalidCredential about the code.
 */
export function openTotpFactor(
  tenant: string,
  owner: TotpOwner,
  { token, code }: { token: string; code: string },
  now: Date,
): NewSecondFactor {
  const pending = openPending(tenant, owner, token, now)
  if (!pending)
    throw new InvalidInput([
      { field: 'token', description: 'has expired, or was not created in this session' },
    ])
  const { id, secret } = pending
  const lastStep = matchTimeStep(secret, code, now)
  if (lastStep === null) throw createWrongTotpError()
  const sealed = seal(toTotpPurpose(tenant, id), secret)
  return { id, userId: owner.userId, type: 'totp', secret: sealed, lastStep, codeHashes: [] }
}

/**
 * Stores the authenticator app of a token; it replaces an earlier app of the user. Throws InvalidInput,
 * InvalidCredential also when the token was used before, NotFound and UserLocked.
 */
export async function finishTotpEnrollment(
  ctx: Ctx,
  owner: TotpOwner,
  entered: { token: string; code: string },
  now = new Date(),
): Promise<{ credentialId: string }> {
  const factor = openTotpFactor(ctx.tenant, owner, entered, now)
  if (!(await storeSecondFactor(ctx, factor, now))) throw createWrongTotpError()
  return { credentialId: factor.id }
}
