import type { Ctx } from '../context/context.ts'
import { toAppError } from '../core/to-app-error.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { requireAccountStorage } from '../users/account-budget.ts'
import { changeUser, insertUserWithEvents } from '../users/users.ts'
import { mayEnter, toNewUserColumns, toRepeatedColumns } from './entry-policy.ts'
import type { ExternalIdentity } from './external-identity.ts'
import { insertProvenLink } from './idp-links.ts'
import { findLinkedUserId } from './idp-sign-in.ts'

const toKey = (row: IdentityProvider, { issuer, subject }: ExternalIdentity) => ({
  idpId: row.id,
  issuer,
  externalId: subject,
})

/**
 * Creates a user with a link to the identity, in one transaction; null where another user has the address, or
 * a concurrent sign-in has created the link.
 */
async function insertLinkedUser(
  ctx: Ctx,
  row: IdentityProvider,
  identity: ExternalIdentity,
): Promise<string | null> {
  try {
    const userId = await ctx.db.transaction(async (tx) => {
      const { id } = await insertUserWithEvents(tx, ctx, toNewUserColumns(row, identity.claims))
      // The tokens are kept with the sign-in that follows.
      await insertProvenLink(
        tx,
        ctx,
        { userId: id, idpId: row.id },
        { identity, provenAt: row.updatedAt, tokens: null },
      )
      return id
    })
    return userId
  } catch (thrown) {
    const isTaken = toAppError(thrown).fields.some(({ field }) => ['email', 'externalId'].includes(field))
    if (!isTaken) throw thrown
    return null
  }
}

/**
 * The user of a proven identity: the linked one, or a new one where the policy of the provider permits it. Null
 * for an identity that may not enter, and for one whose address another user has: that user is linked only
 * after a proof of the account, never by an address. Throws RateLimited when the network has created too many.
 */
export async function findOrCreateLinkedUser(
  ctx: Ctx,
  row: IdentityProvider,
  identity: ExternalIdentity,
): Promise<string | null> {
  const linked = await findLinkedUserId(ctx.db, toKey(row, identity))
  if (linked || !mayEnter(row, identity.claims)) return linked
  await requireAccountStorage(ctx)
  return (
    (await insertLinkedUser(ctx, row, identity)) ?? (await findLinkedUserId(ctx.db, toKey(row, identity)))
  )
}

/** Copies the claims to the user where the provider's policy is to do so at each sign-in. */
export async function copyRepeatedClaims(
  ctx: Ctx,
  row: IdentityProvider,
  { claims }: ExternalIdentity,
  userId: string,
): Promise<void> {
  const columns = toRepeatedColumns(row, claims)
  if (Object.keys(columns).length > 0) await changeUser(ctx, userId, columns)
}
