import { getCredential, revokeCredential } from '../credentials/credentials.ts'
import { createCredentialEnrollmentToken } from '../credentials/enrolment-tokens.ts'
import type { Ctx } from '../ctx.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import type { IdpUser } from '../idps/idp-users.ts'
import { BY_MANAGEMENT, linkIdpUser, unlinkIdpUser } from '../idps/link-idp-user.ts'
import { spend } from '../limits.ts'
import { getUser } from '../users/users.ts'
import { requireOwnAccess } from './own-access.ts'

/** Nobody locks themselves out: what is left to sign in with is a proven address. */
async function assertOtherWay(ctx: Ctx, userId: string, field: string): Promise<void> {
  const { emailVerified, phoneNumberVerified } = await getUser(ctx, userId)
  if (!emailVerified && !phoneNumberVerified)
    throw new InvalidInput([
      { field, description: 'cannot go before you have proven an e-mail address or a phone number' },
    ])
}

/** Revokes a credential of the caller's own. Throws NotFound for anybody else's, InvalidInput, and as requireOwnAccess does. */
export async function revokeViewerCredential(
  ctx: Ctx,
  credentialId: string,
): Promise<{ revokedCredentialId: string }> {
  const { userId } = await requireOwnAccess(ctx)
  const credential = await getCredential(ctx, credentialId)
  if (credential.userId !== userId) throw new NotFound('credential')
  await assertOtherWay(ctx, userId, 'credentialId')
  return revokeCredential(ctx, credentialId)
}

/** Removes the caller's own link at a provider. Throws NotFound, InvalidInput, and as requireOwnAccess does. */
export async function unlinkViewerIdpUser(ctx: Ctx, idpId: string): Promise<{ unlinkedIdpUserId: string }> {
  const { userId } = await requireOwnAccess(ctx)
  await assertOtherWay(ctx, userId, 'idpId')
  return unlinkIdpUser(ctx, userId, idpId)
}

/**
 * Makes a link with which the caller creates a passkey in a browser, within a day. Nothing is sent: whoever asks is the
 * person. Throws UserLocked, and as requireOwnAccess does.
 */
export async function createViewerEnrollmentToken(ctx: Ctx, input: object) {
  const { userId } = await requireOwnAccess(ctx)
  return createCredentialEnrollmentToken(ctx, userId, { ...input, send: false })
}

/**
 * Links the caller to the identity that a proof is of, as linkIdpUser does, and throws as it and requireOwnAccess do; also
 * RateLimited (the network's budget): anybody may sign in, and each proof asks the provider in our name.
 */
export async function linkViewerIdpUser(ctx: Ctx, idpId: string, proof: unknown): Promise<IdpUser> {
  const { userId } = await requireOwnAccess(ctx)
  await spend('linkIdentity', ctx.tenant, ctx.ip)
  // No administrator vouches for it: it goes when somebody else proves the address first.
  return linkIdpUser(ctx, userId, idpId, proof, { ...BY_MANAGEMENT, byManagement: false })
}
