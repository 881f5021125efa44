import { isJsonObject } from '../../core/json/json-object.ts'
import { parseScopeList } from '../../core/scopes.ts'
import { getStrength } from '../../sessions/acr.ts'
import type { ClaimRequest } from '../../users/claim-request.ts'
import { isClaim } from '../../users/claims.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import { createInvalidRequestError, readParameter } from '../model/request-parameters.ts'

/** Twice what a request for every claim takes. Grants store the request for up to three months. */
const MAX_CLAIMS_CHARACTERS = 4000

/** Claims that ID tokens always contain and that a request may restrict. */
const PROTOCOL_CLAIMS = ['sub', 'acr', 'auth_time']

/**
 * Parses the claims parameter of an authorize request (OIDC Core, section 5.5), reduced to known claims; null
 * when it requests none of them. Throws OAuthError invalid_request that names the invalid member.
 */
export function parseClaimsParameter(params: URLSearchParams): ClaimsRequest | null {
  const text = readParameter(params, 'claims')
  if (text === null) return null
  if (text.length > MAX_CLAIMS_CHARACTERS)
    throw createInvalidRequestError(`claims may have at most ${MAX_CLAIMS_CHARACTERS} characters.`, {
      length: text.length,
    })
  const members = requireObject(parseJson(text), 'claims')
  const claims = {
    userinfo: parseClaimsMember(members, 'userinfo', (name) => isClaim(name) || name === 'sub'),
    id_token: parseClaimsMember(
      members,
      'id_token',
      (name) => isClaim(name) || PROTOCOL_CLAIMS.includes(name),
    ),
  }
  return Object.keys({ ...claims.userinfo, ...claims.id_token }).length > 0 ? claims : null
}

/**
 * Adds the known acr_values as a voluntary request of `acr` (OIDC Core, section 3.1.2.1), unless `claims` requests
 * it.
 */
export function addAcrValues(claims: ClaimsRequest | null, acrValues: string | null): ClaimsRequest | null {
  const values = parseScopeList(acrValues ?? '').filter((value) => getStrength(value) >= 0)
  if (values.length === 0 || claims?.id_token.acr !== undefined) return claims
  return { userinfo: claims?.userinfo ?? {}, id_token: { ...claims?.id_token, acr: { values } } }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, rejectUnstorable)
  } catch (error) {
    if (error instanceof SyntaxError) throw createInvalidRequestError('claims is not valid JSON.')
    throw error
  }
}

/** A JSON.parse reviver: PostgreSQL's jsonb stores neither U+0000 nor unpaired surrogates. */
function rejectUnstorable(name: string, value: unknown): unknown {
  const texts = typeof value === 'string' ? [name, value] : [name]
  if (texts.some((text) => text.includes('\u0000') || !text.isWellFormed()))
    throw createInvalidRequestError('claims contains U+0000 or an unpaired surrogate.')
  return value
}

function requireObject(value: unknown, name: string): Record<string, unknown> {
  if (!isJsonObject(value)) throw createInvalidRequestError(`${name} must be a JSON object.`)
  return value
}

/** Ignores unknown members and claims (OIDC Core, section 5.5). */
function parseClaimsMember(
  members: Record<string, unknown>,
  member: 'userinfo' | 'id_token',
  isKnown: (name: string) => boolean,
): Record<string, ClaimRequest> {
  if (!Object.hasOwn(members, member)) return {}
  const requested = Object.entries(requireObject(members[member], `claims.${member}`))
  return Object.fromEntries(
    requested
      .filter(([name]) => isKnown(name))
      .map(([name, request]) => [name, parseClaimRequest(request, `claims.${member}.${name}`)]),
  )
}

function parseClaimRequest(value: unknown, name: string): ClaimRequest {
  if (value === null) return null
  const request = requireObject(value, name)
  if (request.essential !== undefined && typeof request.essential !== 'boolean')
    throw createInvalidRequestError(`${name}.essential must be true or false.`)
  if (request.values !== undefined && !Array.isArray(request.values))
    throw createInvalidRequestError(`${name}.values must be an array.`)
  return {
    ...(request.essential !== undefined && { essential: request.essential }),
    ...('value' in request && { value: request.value }),
    ...(request.values !== undefined && { values: request.values }),
  }
}
