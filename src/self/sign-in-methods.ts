import { getCredential, revokeCredential } from '../credentials/credentials.ts'
import type { Ctx } from '../ctx.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { unlinkIdpUser } from '../idps/link-idp-user.ts'
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
