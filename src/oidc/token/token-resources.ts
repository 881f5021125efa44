import { sha256 } from '../../crypto.ts'
import { sql } from '../../db.ts'
import { OAuthError } from '../../errors.ts'
import { audienceOf, type TenantAudience } from './audience.ts'
import type { RefreshToken } from './refresh-tokens.ts'
import { type Reach, selectCodeReach, selectDeviceReach, selectGrantReach } from './token-resources.sql.ts'
import type { TokenRequest } from './token-response.ts'

/**
 * The resources that a token request comes to (RFC 8707, section 2.2): the grant's own, or those of them that are asked
 * for. Of a grant that names none, they are the audiences which its tokens have by default, so that no request can make
 * the audience grow beyond what was authorised. Throws OAuthError invalid_target.
 */
export function narrowedResources(
  tenant: TenantAudience,
  granted: Reach,
  asked: readonly string[],
): string[] {
  if (asked.length === 0) return granted.resources
  const reach = audienceOf(tenant, granted.scopes, granted.resources)
  const beyond = asked.filter((resource) => !reach.includes(resource))
  if (beyond.length > 0)
    throw new OAuthError(
      'invalid_target',
      'A token request cannot ask for more resources than were granted.',
      {
        why: { asked: beyond.join(' '), granted: reach.join(' ') },
      },
    )
  return [...asked]
}

/** Refuses resources beyond a code's before it is used up: one statement when some are asked for, none otherwise. */
export async function checkCodeResources(
  { ctx, tenant, client, resources }: TokenRequest,
  code: string,
): Promise<void> {
  if (resources.length === 0) return
  const reach = await selectCodeReach(sql, ctx.tenant, sha256(code), client.id)
  if (reach) narrowedResources(tenant, reach, resources)
}

/** Refuses resources beyond a device code's, likewise. */
export async function checkDeviceResources(
  { ctx, tenant, client, resources }: TokenRequest,
  codeHash: Buffer,
): Promise<void> {
  if (resources.length === 0) return
  const reach = await selectDeviceReach(sql, ctx.tenant, codeHash, client.id)
  if (reach) narrowedResources(tenant, reach, resources)
}

/** Refuses resources beyond a grant's before its refresh token rotates, likewise. */
export async function checkRefreshResources(
  { ctx, tenant, client, resources }: TokenRequest,
  { grantId, secret }: RefreshToken,
): Promise<void> {
  if (resources.length === 0) return
  const reach = await selectGrantReach(sql, ctx.tenant, { grantId, secretHash: sha256(secret) }, client.id)
  if (reach) narrowedResources(tenant, reach, resources)
}
