import { createClient } from '../clients/clients.ts'
import { randomToken, sha256 } from '../crypto.ts'
import type { Ctx } from '../ctx.ts'
import { sql } from '../db.ts'
import type { CachedTenant } from '../tenants/tenant-cache.ts'
import { hostIn, Metadata, readMetadata } from './registration.fields.ts'
import { bearerIn, enter, requireFaultless, toInformation, wrongToken } from './registration-calls.ts'
import { selectLiveToken, useToken } from './registration-tokens.sql.ts'

/**
 * Registers the client that calls (RFC 7591, section 3): by an initial access token, of which this takes a use together with
 * the creation. It gets no management scopes, and people are always asked before it gets anything of theirs, since nobody has
 * vouched for it. Throws NotFound while registration is off, RateLimited, and OAuthError: invalid_token (401),
 * invalid_redirect_uri, invalid_client_metadata.
 */
export async function registerClient(
  ctx: Ctx,
  tenant: CachedTenant,
  authorization: string | null,
  readBody: () => Promise<unknown>,
  now = new Date(),
): Promise<object> {
  await enter(ctx, tenant)
  const initialToken = bearerIn(ctx.tenant, authorization)
  const tokenId = await selectLiveToken(sql, ctx.tenant, sha256(initialToken), now)
  if (tokenId === null) throw wrongToken(ctx.tenant)
  const metadata = await readBody()
  const { input, method, faults } = readMetadata(ctx.tenant, metadata, Metadata, {
    method: 'client_secret_basic',
    name: hostIn(metadata),
  })
  requireFaultless(faults)
  const token = randomToken()
  const { client, secret } = await createClient(
    ctx,
    { ...input, type: 'login', requireConsent: true },
    {
      by: 'registration',
      columns: { registrationTokenHash: sha256(token) },
      hasSecret: method !== 'private_key_jwt',
      subjectIds: [tokenId],
      permit: async (sql) => {
        if (!(await useToken(sql, ctx.tenant, tokenId, now))) throw wrongToken(ctx.tenant)
      },
    },
  )
  return { ...toInformation(client, secret !== null, { token, secret }), token_endpoint_auth_method: method }
}
