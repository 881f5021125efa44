import { isClaim } from '../userinfo/claims.ts'
import type { ClaimRequest, ClaimsRequest } from './claims-request.ts'
import { invalid, single } from './parameters.ts'

/** All our claims in both members take less than half of it; a grant keeps them for three months. */
const CLAIMS_LIMIT_CHARACTERS = 4000

/** What ID tokens say anyway, and a request may make demands on. */
const DEMANDABLE_CLAIMS = ['sub', 'acr', 'auth_time']

/**
 * The claims parameter of an authorize request (OIDC Core, section 5.5), reduced to claims that we know; null when it asks
 * for none of them. Throws OAuthError invalid_request that names the member at fault.
 */
export function requestedClaims(params: URLSearchParams): ClaimsRequest | null {
  const text = single(params, 'claims')
  if (text === null) return null
  if (text.length > CLAIMS_LIMIT_CHARACTERS)
    throw invalid(`claims may have ${CLAIMS_LIMIT_CHARACTERS} characters at most.`, { length: text.length })
  const members = objectOf(parsed(text), 'claims')
  const claims = {
    userinfo: claimsIn(members, 'userinfo', (name) => isClaim(name) || name === 'sub'),
    id_token: claimsIn(members, 'id_token', (name) => isClaim(name) || DEMANDABLE_CLAIMS.includes(name)),
  }
  return Object.keys({ ...claims.userinfo, ...claims.id_token }).length > 0 ? claims : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text, refuseUnstorable)
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid('claims is not valid JSON.')
    throw error
  }
}

/** No jsonb column holds U+0000 or half a character. */
function refuseUnstorable(name: string, value: unknown): unknown {
  const texts = typeof value === 'string' ? [name, value] : [name]
  if (texts.some((text) => text.includes('\u0000') || !text.isWellFormed()))
    throw invalid('claims contains U+0000 or an unpaired surrogate.')
  return value
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${name} must be a JSON object.`)
  return value as Record<string, unknown>
}

/** What is not understood is ignored: other members, claims that we do not have, members of a claim's request. */
function claimsIn(
  members: Record<string, unknown>,
  member: 'userinfo' | 'id_token',
  isKnown: (name: string) => boolean,
): Record<string, ClaimRequest> {
  if (!Object.hasOwn(members, member)) return {}
  const asked = Object.entries(objectOf(members[member], `claims.${member}`))
  return Object.fromEntries(
    asked
      .filter(([name]) => isKnown(name))
      .map(([name, request]) => [name, claimRequest(request, `claims.${member}.${name}`)]),
  )
}

function claimRequest(value: unknown, name: string): ClaimRequest {
  if (value === null) return null
  const request = objectOf(value, name)
  if (request.essential !== undefined && typeof request.essential !== 'boolean')
    throw invalid(`${name}.essential must be true or false.`)
  if (request.values !== undefined && !Array.isArray(request.values))
    throw invalid(`${name}.values must be an array.`)
  return {
    ...(request.essential !== undefined && { essential: request.essential }),
    ...('value' in request && { value: request.value }),
    ...(request.values !== undefined && { values: request.values }),
  }
}
