import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx } from '../../context/context.ts'
import { randomToken, unseal } from '../../core/crypto.ts'
import { Conflict, InvalidInput, NotFound } from '../../core/errors.ts'
import { addSeconds } from '../../core/time.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import type { IdentityProvider } from '../../generated/prisma/client.ts'
import { requireProvider } from '../external-identity.ts'
import { REFRESH_DEADLINE_MS, withinRefreshDeadline } from '../provider/provider-deadline.ts'
import { toUnavailable } from '../provider/provider-errors.ts'
import { RejectedGrant, requestTokens } from '../provider/provider-token-request.ts'
import { findProviderRow } from '../sign-in-providers.ts'
import { sealTokens, toProviderTokens, toTokenPurpose } from './kept-tokens.ts'
import { claimRefresh, type LinkTokens, selectLinkTokens } from './tokens.sql.ts'

/** A user and an identity provider. */
export type TokenTarget = { userId: string; idpId: string }
/** Kept tokens of a link; the access token is sealed. */
export type KeptTokens = { linkId: string; accessToken: string; scopes: string[]; expiresAt: Date | null }

/** A token that expires sooner is refreshed, so that the caller has time to use it. */
const MIN_REMAINING_SECONDS = 30

const POLL_MS = 200

const isFresh = (expiresAt: Date | null, now: Date): boolean =>
  expiresAt === null || expiresAt > addSeconds(now, MIN_REMAINING_SECONDS)

/** The kept tokens of a link. Throws NotFound without a link or tokens. */
async function loadTokens(ctx: Ctx, target: TokenTarget): Promise<LinkTokens & KeptTokens> {
  const found = await selectLinkTokens(ctx.db, target)
  if (!found) throw new NotFound('link')
  const { accessToken, scopes } = found
  if (accessToken === null || scopes === null)
    throw new NotFound('tokens. A sign-in at a provider with keepTokens stores them')
  return { ...found, accessToken, scopes }
}

const createTokenError = (description: string, message: string) =>
  new Conflict([{ field: 'idpId', description }], message)

const createExpiredError = () =>
  createTokenError(
    'is a provider that issued no refresh token for the user',
    'The access token has expired. The user has to sign in at the identity provider again.',
  )

const createRefusedError = () =>
  createTokenError(
    'is a provider that does not accept the refresh token of the user any more',
    'The identity provider refused the refresh token, and the tokens were deleted. The user has to sign in there again.',
  )

/** The provider answered with an error about our client or the request. */
const createRejectedError = ({ fields }: InvalidInput) =>
  createTokenError(
    'is a provider that did not refresh the tokens',
    `The identity provider did not refresh the tokens: the request ${fields.map(({ description }) => description).join(', ')}. Its configuration may be wrong.`,
  )

/** RFC 6749, section 5.2. */
const isRefused = (error: unknown): boolean =>
  error instanceof RejectedGrant && (error.error === 'invalid_grant' || error.error === 'bad_refresh_token')

const RELEASED = { refreshId: null, refreshUntil: null }

/** Requests new tokens by a claimed refresh. Null if the kept ones were deleted or replaced since. */
async function refreshByClaim(
  ctx: Ctx,
  { userId, idpId }: TokenTarget,
  {
    row,
    claim,
    sealed,
    scopes,
  }: {
    row: IdentityProvider
    claim: { linkId: string; refreshId: string }
    sealed: string
    scopes: string[]
  },
): Promise<KeptTokens | null> {
  const { tenant } = ctx
  const { linkId } = claim
  // No row if the tokens were deleted or replaced since.
  const claimed = { tenantId: tenant, ...claim }
  const now = new Date()
  try {
    const refreshToken = unseal(toTokenPurpose(tenant, linkId, 'refreshToken'), sealed).toString()
    const answer = await withinRefreshDeadline(async () =>
      requestTokens(requireProvider(row), 'refreshToken', 'refresh_token', { refresh_token: refreshToken }),
    )
    if (!answer.hasAccessToken)
      throw toUnavailable('no access token', `${idpId} refreshed without an access token`)
    const tokens = sealTokens(tenant, linkId, toProviderTokens(answer, scopes, now))
    const { count } = await ctx.db.prisma.idpUserToken.updateMany({
      where: claimed,
      data: {
        ...tokens,
        // The earlier one stays if the provider issued no other.
        refreshToken: tokens.refreshToken ?? undefined,
        ...RELEASED,
      },
    })
    return count > 0 ? tokens : null
  } catch (error) {
    if (!isRefused(error)) {
      // So that the next refresh may begin.
      await ctx.db.prisma.idpUserToken.updateMany({ where: claimed, data: RELEASED })
      throw error instanceof InvalidInput ? createRejectedError(error) : error
    }
    const isDeleted = await ctx.db.transaction(async (tx) => {
      const { count } = await tx.prisma.idpUserToken.deleteMany({ where: claimed })
      if (count > 0)
        await recordEvents(tx, ctx, [
          createEvent('idpuser.tokens_deleted', { userId, linkId, idpId }, { reason: 'refused' }),
        ])
      return count > 0
    })
    if (!isDeleted) return null
    throw createRefusedError()
  }
}

/**
 * Returns tokens that have not expired. Of concurrent callers, in all processes, one refreshes them at the provider
 * (RFC 6749, section 6), and the others wait for it: a provider that rotates refresh tokens accepts each once. Throws
 * NotFound without a link or tokens, Conflict when the tokens cannot be refreshed, and Unavailable when the provider does
 * not respond within 10 s.
 */
export async function loadFreshTokens(ctx: Ctx, target: TokenTarget): Promise<KeptTokens> {
  const deadline = Date.now() + REFRESH_DEADLINE_MS
  for (;;) {
    const current = await loadTokens(ctx, target)
    const { linkId, scopes } = current
    if (isFresh(current.expiresAt, new Date())) return current
    if (!current.hasRefreshToken) throw createExpiredError()
    if (Date.now() > deadline) throw toUnavailable('too slow', 'another refresh is under way')
    // The refresh token goes to the provider as it is read here: a change of it deletes the token or fails the claim.
    const row = current.isRefreshing ? null : await findProviderRow(ctx.db, target.idpId)
    const claim = { linkId, refreshId: randomToken() }
    const staleAt = addSeconds(new Date(), MIN_REMAINING_SECONDS)
    const sealed = row && (await claimRefresh(ctx.db, { ...claim, staleAt, provenAt: row.updatedAt }))
    if (!sealed) {
      await sleep(POLL_MS)
      continue
    }
    const refreshed = await refreshByClaim(ctx, target, { row, claim, sealed, scopes })
    if (refreshed) return refreshed
  }
}
