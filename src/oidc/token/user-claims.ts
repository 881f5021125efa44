import { LRUCache } from 'lru-cache'
import type { DeclaredApi } from '../../access/declared-resources.ts'
import type { Ctx } from '../../context/context.ts'
import { takeStorage } from '../../coordination/storage-budgets.ts'
import { sha256 } from '../../core/crypto.ts'
import { errorMessage } from '../../core/error-message.ts'
import { measureJson } from '../../core/json/json-size.ts'
import { log } from '../../core/log.ts'
import { createEvent } from '../../events/create-event.ts'
import { recordEvents } from '../../events/log.ts'
import { type ClaimTarget, listApiMappings, listClientMappings } from '../../model/claim-mappings.ts'
import { buildClaims } from '../../users/claims.ts'
import { buildMappedClaims, type MappedUser, type MappingTerms } from '../../users/mapped-claims.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import type { ClaimsUserJson } from './granted-user.sql.ts'

/** The names of the mapped claims that are left out of a token or response, because it would be too large. */
export type OmittedClaims = { target: ClaimTarget; claims: string[] }

/** Claims, and what is left out of them. */
export type UserClaims = { claims: Record<string, unknown>; omitted: OmittedClaims[] }

const toOmitted = (target: ClaimTarget, claims: string[]): OmittedClaims[] =>
  claims.length > 0 ? [{ target, claims }] : []

export const toClaimsUser = (user: ClaimsUserJson): MappedUser => ({
  ...user,
  updatedAt: new Date(user.updatedAt),
})

type MappingClient = Parameters<typeof listClientMappings>[0] & { requireConsent: boolean }

const toTerms = (client: MappingClient): MappingTerms => ({
  mappings: listClientMappings(client),
  requireConsent: client.requireConsent,
})

/** What a user has granted. `claims` are those that the request names. */
type Granted = { scopes: readonly string[]; claims: ClaimsRequest | null }

/**
 * The claims about the user in an ID token: those that were requested for it (OIDC Core, section 5.5), when the client has
 * `idTokenClaims` those of the granted scopes, and those that are mapped.
 */
export function buildIdTokenClaims(
  client: MappingClient & { idTokenClaims: boolean },
  user: MappedUser | null,
  { scopes, claims }: Granted,
): UserClaims {
  if (!user) return { claims: {}, omitted: [] }
  const mapped = buildMappedClaims(toTerms(client), user, scopes, 'id_token')
  return {
    claims: { ...buildClaims(user, client.idTokenClaims ? scopes : [], claims?.id_token), ...mapped.claims },
    omitted: toOmitted('id_token', mapped.omitted),
  }
}

/**
 * The mapped claims of an access token: those of the API that it is for, if it is for one, and others of the client.
 * `user` is null for a token of the client itself.
 */
export function buildAccessTokenClaims(
  client: MappingClient,
  api: DeclaredApi | null,
  user: MappedUser | null,
  scopes: readonly string[],
): UserClaims {
  const ofApi = api ? listApiMappings(api) : []
  const ofClient = listClientMappings(client).filter(({ claim }) => ofApi.every((one) => one.claim !== claim))
  const { claims, omitted } = buildMappedClaims(
    { ...client, mappings: [...ofApi, ...ofClient] },
    user,
    scopes,
    'access_token',
  )
  return { claims, omitted: toOmitted('access_token', omitted) }
}

/** The claims of a userinfo response: those of the scopes, those that were requested for it, and those that are mapped. */
export function buildUserinfoClaims(
  client: MappingClient,
  user: MappedUser,
  { scopes, claims }: Granted,
): UserClaims {
  const mapped = buildMappedClaims(toTerms(client), user, scopes, 'userinfo')
  return {
    claims: { ...buildClaims(user, scopes, claims?.userinfo), ...mapped.claims },
    omitted: toOmitted('userinfo', mapped.omitted),
  }
}

/** What was recorded in the last hour. */
const recentlyOmitted = new LRUCache<string, true>({
  max: 10_000,
  ttl: 3_600_000,
  perf: { now: () => Date.now() },
})

/**
 * Records which mapped claims were left out of what a client gets about a user, each process once an hour, within the budget
 * of rejections. The token is valid without them. Never throws.
 */
export async function recordOmittedClaims(
  ctx: Ctx,
  { clientId, userId }: { clientId: string; userId: string },
  found: readonly OmittedClaims[],
): Promise<void> {
  if (found.length === 0) return
  const toKey = ({ target, claims }: OmittedClaims) =>
    sha256([ctx.tenant, clientId, userId, target, ...claims].join(' ')).toString('base64url')
  const omitted = found.filter((one) => !recentlyOmitted.has(toKey(one)))
  if (omitted.length === 0) return
  for (const one of omitted) recentlyOmitted.set(toKey(one), true)
  try {
    if (await takeStorage('rejection', ctx, { rows: omitted.length, bytes: measureJson(omitted) })) return
    await recordEvents(
      ctx.db,
      ctx,
      omitted.map(({ target, claims }) =>
        createEvent('token.claims_omitted', { userId, clientId }, { target, claims: claims.join(' ') }),
      ),
    )
  } catch (error) {
    log.warn({ requestId: ctx.requestId, err: errorMessage(error) }, 'omitted claims could not be recorded')
  }
}
