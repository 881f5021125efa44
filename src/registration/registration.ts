import type { CachedTenant } from '../access/tenant-cache.ts'
import { type ClientOrigin, createClient } from '../clients/clients.ts'
import type { Ctx } from '../context/context.ts'
import { requireStorage } from '../coordination/storage-budgets.ts'
import { randomToken, sha256 } from '../core/crypto.ts'
import { measureJson } from '../core/json/json-size.ts'
import { ClientMetadata, omitLogos, parseMetadata, selectClientHost } from './registration.fields.ts'
import {
  assertNoIssues,
  createInvalidTokenError,
  requireBearerToken,
  requireRegistrationEnabled,
  toClientInformation,
} from './registration-endpoint.ts'
import { buildActiveCondition } from './registration-tokens.ts'

/** What permits a registration, and what the client is from then on. */
type Permission = Pick<ClientOrigin, 'by' | 'registrationTokenId' | 'permit'> & { isReviewed: boolean }

/**
 * The use of an initial access token, which is counted in the transaction of the creation. Tokens work while the tenant
 * has `dynamicRegistration`: open registration does not bring back those of before. Throws OAuthError.
 */
async function authorizeByToken(
  ctx: Ctx,
  { dynamicRegistration }: CachedTenant,
  authorization: string | null,
  now: Date,
): Promise<Permission> {
  const initialToken = requireBearerToken(ctx.tenant, authorization)
  if (!dynamicRegistration) throw createInvalidTokenError(ctx.tenant)
  const active = { ...buildActiveCondition(ctx.tenant, now), tokenHash: sha256(initialToken) }
  const token = await ctx.db.prisma.registrationToken.findFirst({ where: active, select: { id: true } })
  if (!token) throw createInvalidTokenError(ctx.tenant)
  return {
    by: 'registration',
    isReviewed: true,
    registrationTokenId: token.id,
    permit: async (tx) => {
      // The row lock serializes concurrent uses: the second sees the remaining number.
      const { count } = await tx.prisma.registrationToken.updateMany({
        where: active,
        data: { usesLeft: { decrement: 1 } },
      })
      if (count === 0) throw createInvalidTokenError(ctx.tenant)
    },
  }
}

const OPEN: Permission = { by: 'open-registration', isReviewed: false }

/**
 * Registers the calling client (RFC 7591, section 3) with an initial access token or, where the tenant permits it,
 * without one: then what it stores counts towards the budget of its network, and the client has no logo and is deleted
 * when it is not used. The client gets no management scopes and requires consent, because it is unreviewed. Throws
 * NotFound while registration is off, RateLimited, and OAuthError invalid_token (401), invalid_redirect_uri or
 * invalid_client_metadata.
 */
export async function registerClient(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  readBody: () => Promise<unknown>,
): Promise<object> {
  const now = new Date()
  await requireRegistrationEnabled(ctx, tenant)
  const isOpen = tenant.openRegistration && authorization === null
  const { isReviewed, ...permission } = isOpen
    ? OPEN
    : await authorizeByToken(ctx, tenant, authorization, now)
  const sent = await readBody()
  const metadata = isReviewed ? sent : omitLogos(sent)
  const { input, method, issues } = parseMetadata(ctx.tenant, metadata, ClientMetadata, {
    method: 'client_secret_basic',
    name: selectClientHost(metadata),
  })
  assertNoIssues(issues)
  if (!isReviewed) await requireStorage('clientRegistration', ctx, { bytes: measureJson(input) })
  const token = randomToken()
  const { client, secret } = await createClient(
    ctx,
    { ...input, type: 'login', requireConsent: true },
    {
      ...permission,
      columns: {
        registrationTokenHash: sha256(token),
        ...(!isReviewed && { documentFreshUntil: now }),
      },
      hasSecret: method !== 'private_key_jwt',
    },
  )
  return {
    ...toClientInformation(client, secret !== null, { token, secret }),
    token_endpoint_auth_method: method,
  }
}
