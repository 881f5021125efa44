import type { CachedTenant } from '../access/tenant-cache.ts'
import { createClient } from '../clients/clients.ts'
import type { Ctx } from '../core/context.ts'
import { randomToken, sha256 } from '../core/crypto.ts'
import { sqlFor } from '../database/db.ts'
import { ClientMetadata, parseMetadata, selectClientHost } from './registration.fields.ts'
import {
  assertNoIssues,
  createInvalidTokenError,
  requireBearerToken,
  requireRegistrationEnabled,
  toClientInformation,
} from './registration-endpoint.ts'
import { consumeRegistrationToken, selectActiveRegistrationToken } from './registration-tokens.sql.ts'

/**
 * Registers the calling client (RFC 7591, section 3) with an initial access token, and counts a use of it in
 * the transaction of the creation. The client gets no management scopes and requires consent, because it is
 * unreviewed. Throws NotFound while registration is off, RateLimited, and OAuthError invalid_token (401),
 * invalid_redirect_uri or invalid_client_metadata.
 */
export async function registerClient(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  readBody: () => Promise<unknown>,
  now = new Date(),
): Promise<object> {
  await requireRegistrationEnabled(ctx, tenant)
  const initialToken = requireBearerToken(ctx.tenant, authorization)
  const tokenId = await selectActiveRegistrationToken(sqlFor(ctx), ctx.tenant, sha256(initialToken), now)
  if (tokenId === null) throw createInvalidTokenError(ctx.tenant)
  const metadata = await readBody()
  const { input, method, issues } = parseMetadata(ctx.tenant, metadata, ClientMetadata, {
    method: 'client_secret_basic',
    name: selectClientHost(metadata),
  })
  assertNoIssues(issues)
  const token = randomToken()
  const { client, secret } = await createClient(
    ctx,
    { ...input, type: 'login', requireConsent: true },
    {
      by: 'registration',
      columns: { registrationTokenHash: sha256(token) },
      hasSecret: method !== 'private_key_jwt',
      registrationTokenId: tokenId,
      permit: async (sql) => {
        if (!(await consumeRegistrationToken(sql, ctx.tenant, tokenId, now)))
          throw createInvalidTokenError(ctx.tenant)
      },
    },
  )
  return {
    ...toClientInformation(client, secret !== null, { token, secret }),
    token_endpoint_auth_method: method,
  }
}
