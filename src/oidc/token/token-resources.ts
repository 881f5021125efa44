import { sql } from '../../db.ts'
import { OAuthError } from '../../errors.ts'
import { audienceOf, type TenantAudience } from './audience.ts'
import { type Presented, type Reach, selectReach } from './token-resources.sql.ts'
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

/** Refuses resources beyond what a code or a refresh token is for before it is used up: one statement when some are asked for, none otherwise. */
export async function checkResources(
  { ctx, tenant, client, resources }: TokenRequest,
  presented: Presented,
): Promise<void> {
  if (resources.length === 0) return
  const reach = await selectReach(sql, ctx.tenant, presented, client.id)
  if (reach) narrowedResources(tenant, reach, resources)
}
