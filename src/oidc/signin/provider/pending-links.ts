import type { Ctx } from '../../../core/context.ts'
import { Conflict, NotFound, Unavailable } from '../../../core/errors.ts'
import { measureJson } from '../../../core/json-size.ts'
import { log } from '../../../core/log.ts'
import { sql } from '../../../database/db.ts'
import { linkProvenIdentity } from '../../../idps/idp-links.ts'
import { hashHandle, type Interaction, type PendingLink } from '../../interactions/interactions.ts'
import { updatePendingLink } from '../../interactions/pending-links.sql.ts'

/** Claims of more bytes are not kept until the link is created. */
const MAX_CLAIMS_BYTES = 4096

/** Stores a proven identity until its user has signed in by another method; null forgets it. */
export function storePendingLink(
  tenant: string,
  interaction: Interaction,
  link: PendingLink | null,
): Promise<void> {
  const isLarge = link !== null && measureJson(link.identity.claims) > MAX_CLAIMS_BYTES
  const stored = isLarge ? { ...link, identity: { ...link.identity, claims: {} } } : link
  return updatePendingLink(sql, tenant, hashHandle(interaction), stored)
}

/**
 * Links the identity to the user who has just proven the account. If that is not possible, the sign-in
 * continues: the account has another identity of the provider, or the identity another account.
 */
export async function linkPending(
  ctx: Ctx,
  userId: string,
  { idpId, identity, provenAt }: PendingLink,
): Promise<void> {
  try {
    await linkProvenIdentity(ctx, { userId, idpId }, { identity, provenAt: new Date(provenAt) })
  } catch (error) {
    const isExpected = [Conflict, NotFound, Unavailable].some((kind) => error instanceof kind)
    if (!isExpected) throw error
    log.warn(
      { requestId: ctx.requestId, tenant: ctx.tenant, idpId, err: error },
      'an identity was not linked',
    )
  }
}
