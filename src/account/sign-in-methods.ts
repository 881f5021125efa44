import type { Ctx } from '../context/context.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import { getCredential, revokeCredential } from '../credentials/credentials.ts'
import { createCredentialEnrollmentToken } from '../credentials/enrollment-tokens.ts'
import { ACCOUNT_AUTHORITY, linkIdpUser, unlinkIdpUser } from '../idps/idp-links.ts'
import type { IdpUser } from '../idps/idp-users.ts'
import { announceAccountChange } from '../users/deletion/account-notices.ts'
import { getUser } from '../users/users.ts'
import { requireStepUp } from './step-up.ts'

/** A verified address must remain, so that the user can still sign in. Throws InvalidInput. */
async function assertOtherSignInMethod(ctx: Ctx, userId: string, field: string): Promise<void> {
  const { emailVerified, phoneNumberVerified } = await getUser(ctx, userId)
  if (!emailVerified && !phoneNumberVerified)
    throw new InvalidInput([
      {
        field,
        description: 'cannot be removed before you have verified an e-mail address or a phone number',
      },
    ])
}

/**
 * Revokes a credential of the caller. Throws NotFound, also for another user's credential, InvalidInput
 * and StepUpRequired.
 */
export async function revokeViewerCredential(
  ctx: Ctx,
  credentialId: string,
): Promise<{ revokedCredentialId: string }> {
  const { userId } = await requireStepUp(ctx)
  const credential = await getCredential(ctx, credentialId)
  if (credential.userId !== userId) throw new NotFound('credential')
  // A second factor is no way in without a first one.
  if (credential.type === 'public-key') await assertOtherSignInMethod(ctx, userId, 'credentialId')
  return revokeCredential(ctx, credentialId)
}

/** Deletes the caller's link at a provider. Throws NotFound, InvalidInput and StepUpRequired. */
export async function unlinkViewerIdpUser(ctx: Ctx, idpId: string): Promise<{ unlinkedIdpUserId: string }> {
  const { userId } = await requireStepUp(ctx)
  await assertOtherSignInMethod(ctx, userId, 'idpId')
  const unlinked = await unlinkIdpUser(ctx, userId, idpId, ACCOUNT_AUTHORITY)
  announceAccountChange(ctx, userId, 'identity-unlinked')
  return unlinked
}

/**
 * Creates a link with which the caller creates a passkey in a browser, within a day. No message is sent,
 * because the caller is the user. Throws UserLocked and StepUpRequired.
 */
export async function createViewerEnrollmentToken(ctx: Ctx, input: object) {
  const { userId } = await requireStepUp(ctx)
  return createCredentialEnrollmentToken(ctx, userId, { ...input, send: false })
}

/**
 * Links the caller to the identity that a proof shows. Throws InvalidInput, NotFound, Conflict, Unavailable, StepUpRequired, and
 * RateLimited (per network), because each proof sends a request to the provider.
 */
export async function linkViewerIdpUser(ctx: Ctx, idpId: string, proof: unknown): Promise<IdpUser> {
  const { userId } = await requireStepUp(ctx)
  await consumeLimit('linkIdentity', ctx.tenant, ctx.ip)
  // Not confirmed by an administrator: the link is deleted when another user verifies the address first.
  const link = await linkIdpUser(ctx, userId, idpId, proof, ACCOUNT_AUTHORITY)
  announceAccountChange(ctx, userId, 'identity-linked')
  return link
}
