import type { Ctx } from '../../../context/context.ts'
import { Conflict, NotFound, Unavailable } from '../../../core/errors.ts'
import { measureJson } from '../../../core/json/json-size.ts'
import type { Db } from '../../../database/handle.ts'
import { createEvent } from '../../../events/create-event.ts'
import { recordEvents } from '../../../events/log.ts'
import type { LinkFailure } from '../../../events/reasons.ts'
import { linkProvenIdentity } from '../../../idps/idp-links.ts'
import { unsealPendingTokens } from '../../../idps/tokens/kept-tokens.ts'
import { announceAccountChange } from '../../../users/deletion/account-notices.ts'
import { clearPendingLink, insertPendingLink } from '../../interactions/interactions.sql.ts'
import {
  createExpiredSignInError,
  hashBinding,
  hashProvenBinding,
  type Interaction,
} from '../../interactions/interactions.ts'
import type { PendingLink } from '../../interactions/progress.ts'

/** Claims of more bytes are not kept until the link is created. */
const MAX_CLAIMS_BYTES = 4096

/**
 * Stores a proven identity until its user has signed in by another method. It is a proof: the interaction is bound to its
 * `nextKey`. Throws AppError (410) when it has ended, or was bound anew.
 */
export async function storePendingLink(db: Db, interaction: Interaction, link: PendingLink): Promise<void> {
  const isLarge = measureJson(link.identity.claims) > MAX_CLAIMS_BYTES
  const stored = isLarge ? { ...link, identity: { ...link.identity, claims: {} } } : link
  const proven = { ...hashProvenBinding(interaction), link: stored }
  if (!(await insertPendingLink(db, proven))) throw createExpiredSignInError()
}

/** Forgets a proven identity. */
export const forgetPendingLink = (db: Db, interaction: Interaction): Promise<void> =>
  clearPendingLink(db, hashBinding(interaction))

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
    await recordEvents(ctx.db, ctx, [createEvent('idpuser.link_failed', { userId, idpId }, { reason })])
  }
}
