import type { Ctx } from '../../../core/context.ts'
import { Conflict, NotFound, Unavailable } from '../../../core/errors.ts'
import { measureJson } from '../../../core/json-size.ts'
import { sql } from '../../../database/db.ts'
import { idpUserLinkFailed } from '../../../events/credential-events.ts'
import { recordEvents, wakeReaders } from '../../../events/log.ts'
import type { LinkFailure } from '../../../events/types.ts'
import { linkProvenIdentity } from '../../../idps/idp-links.ts'
import { unsealPendingTokens } from '../../../idps/kept-tokens.ts'
import { announceAccountChange } from '../../../users/account-notices.ts'
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

/** Why the identity cannot be linked; null for an error that is not expected. */
function toLinkFailure(error: unknown): LinkFailure | null {
  if (error instanceof Conflict)
    return error.fields.some(({ field }) => field === 'externalId') ? 'taken' : 'linked'
  if (error instanceof NotFound) return 'deleted'
  return error instanceof Unavailable ? 'changed' : null
}

/**
 * Links the identity to the user who has just proven the account. If that is not possible, the sign-in
 * continues: the account has another identity of the provider, or the identity another account. An event says why.
 */
export async function linkPending(
  ctx: Ctx,
  userId: string,
  { idpId, identity, provenAt, tokens: sealed }: PendingLink,
): Promise<void> {
  try {
    const tokens = sealed ? unsealPendingTokens(ctx.tenant, idpId, sealed) : null
    await linkProvenIdentity(ctx, { userId, idpId }, { identity, provenAt: new Date(provenAt), tokens })
    announceAccountChange(ctx, userId, 'identity-linked')
  } catch (error) {
    const reason = toLinkFailure(error)
    if (reason === null) throw error
    await recordEvents(sql, ctx, [idpUserLinkFailed({ userId, idpId }, reason)])
    wakeReaders(ctx.tenant)
  }
}
