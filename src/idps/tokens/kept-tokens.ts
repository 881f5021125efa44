import { seal, UnsealError, unseal } from '../../core/crypto.ts'
import { addSeconds } from '../../core/time.ts'
import type { Tx } from '../../database/handle.ts'
import type { IdentityProvider } from '../../generated/prisma/client.ts'
import type { IdentityKey } from '../idp-sign-in.ts'
import type { TokenAnswer } from '../provider/provider-token-request.ts'
import { lockTokenKeeper } from './tokens.sql.ts'

/** Tokens that a provider issued for a user. */
export type ProviderTokens = {
  accessToken: string
  refreshToken: string | null
  scopes: string[]
  /** When the access token expires; null where the provider does not say. */
  expiresAt: Date | null
}

/**
 * The tokens of an answer, requested at `now`. `requested` are the scopes where the answer does not say (RFC 6749,
 * section 5.1).
 */
export const toProviderTokens = (
  { accessToken, refreshToken, scopes, expiresInSeconds }: TokenAnswer,
  requested: readonly string[],
  now: Date,
): ProviderTokens => ({
  accessToken,
  refreshToken,
  scopes: scopes ?? [...requested],
  expiresAt: expiresInSeconds === null ? null : addSeconds(now, expiresInSeconds),
})

/** The tokens of an answer, if the provider keeps them and has issued an access token. */
export const selectKeptTokens = (
  { keepTokens }: Pick<IdentityProvider, 'keepTokens'>,
  answer: TokenAnswer,
  requested: readonly string[],
  now: Date,
): ProviderTokens | null =>
  keepTokens && answer.hasAccessToken ? toProviderTokens(answer, requested, now) : null

export type TokenColumn = 'accessToken' | 'refreshToken'

/** The purpose of a sealed token of a link. Moved to another link or column, it cannot be decrypted. */
export const toTokenPurpose = (tenant: string, linkId: string, column: TokenColumn): string =>
  `idp-token:${tenant}:${linkId}:${column}`

/** The columns that tokens are written with. */
export const sealTokens = (
  tenant: string,
  linkId: string,
  { accessToken, refreshToken, scopes, expiresAt }: ProviderTokens,
) => ({
  linkId,
  accessToken: seal(toTokenPurpose(tenant, linkId, 'accessToken'), accessToken),
  refreshToken: refreshToken && seal(toTokenPurpose(tenant, linkId, 'refreshToken'), refreshToken),
  scopes,
  expiresAt,
})

/** A link whose provider is locked, and keeps tokens. */
type LockedLink = { id: string; idpId: string }

/** Replaces the tokens of a link. The earlier refresh token stays if the provider issued no other. One statement. */
export async function replaceTokens(
  tx: Tx,
  { id, idpId }: LockedLink,
  tokens: ProviderTokens,
): Promise<void> {
  const tenantId = tx.tenant
  const { linkId, refreshToken, ...others } = sealTokens(tenantId, id, tokens)
  // A refresh that is under way is void if it uses a refresh token that is replaced.
  const renewed = refreshToken !== null && { refreshToken, refreshId: null, refreshUntil: null }
  await tx.prisma.idpUserToken.upsert({
    where: { tenantId_linkId: { tenantId, linkId } },
    create: { tenantId, linkId, idpId, refreshToken, ...others },
    update: { ...others, ...renewed },
  })
}

/**
 * Keeps the tokens of a sign-in by an identity that is linked to a locked user, unless the provider has been changed
 * since `provenAt`, its updatedAt. Locks the provider, so that switching it off deletes them too. To be called before
 * the link is written: a deletion of the provider locks it before its links.
 */
export async function keepSignInTokens(
  tx: Tx,
  use: IdentityKey & { userId: string; provenAt: Date },
  tokens: ProviderTokens,
): Promise<void> {
  const linkId = await lockTokenKeeper(tx, use)
  if (linkId) await replaceTokens(tx, { id: linkId, idpId: use.idpId }, tokens)
}

const toPendingPurpose = (tenant: string, idpId: string): string => `pending-idp-tokens:${tenant}:${idpId}`

/** Longer ones are not kept until the identity is linked; those of the next sign-in are. */
const MAX_PENDING_CHARACTERS = 16_384

/** Seals the tokens of a proven identity until it is linked; null for those that are too long. */
export function sealPendingTokens(tenant: string, idpId: string, tokens: ProviderTokens): string | null {
  const sealed = seal(toPendingPurpose(tenant, idpId), JSON.stringify(tokens))
  return sealed.length <= MAX_PENDING_CHARACTERS ? sealed : null
}

/** Opens sealed tokens of an identity; null if their key has been removed. */
export function unsealPendingTokens(tenant: string, idpId: string, sealed: string): ProviderTokens | null {
  try {
    const tokens = JSON.parse(unseal(toPendingPurpose(tenant, idpId), sealed).toString())
    return { ...tokens, expiresAt: tokens.expiresAt && new Date(tokens.expiresAt) }
  } catch (error) {
    if (error instanceof UnsealError) return null
    throw error
  }
}
