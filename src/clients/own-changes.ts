import { isDeepStrictEqual } from 'node:util'
import type { SigningAlgorithm } from '../keys/signing-algorithms.ts'
import type { ChangeableClient } from './client-changes.sql.ts'
import { listCallbackOrigins } from './client-rules.fields.ts'
import type { RegisteredBy } from './client-types.ts'

/**
 * The algorithm of ID tokens when the metadata of a client that registers itself has none (OIDC Registration 1.0, section
 * 2). Libraries that register a client accept no other unless they name it. Clients of administrators have the default of
 * the service.
 */
export const REGISTERED_ID_TOKEN_ALGORITHM: SigningAlgorithm = 'RS256'

/** What a client may demand of itself. Nothing tells whether it or an administrator did, so that it cannot lift it. */
const DEMANDS = ['requirePushedRequests', 'dpopBoundAccessTokens'] as const

/**
 * The input of a client that changes itself (`by`), by a replaced registration or a new version of its document,
 * without what would reset a setting of an administrator: demands stay, settings that the input leaves out stay, and
 * a client that nobody reviewed has no say about its logo.
 */
export function keepAdministratorSettings(
  input: Record<string, unknown>,
  before: ChangeableClient,
  by: RegisteredBy,
): Record<string, unknown> {
  const kept: Record<string, unknown> = { ...input }
  for (const demand of DEMANDS) if (before[demand]) kept[demand] = true
  // Only administrators demand a method: a client that would become public contradicts it.
  if (before.tokenEndpointAuthMethod !== null) kept.tokenEndpointAuthMethod = before.tokenEndpointAuthMethod
  if (input.idTokenClaims === null) delete kept.idTokenClaims
  if (input.idTokenSigningAlg === null)
    kept.idTokenSigningAlg = before.requireFapiAlgorithms
      ? before.idTokenSigningAlg
      : REGISTERED_ID_TOKEN_ALGORITHM
  if (input.allowedOrigins === null && !hasCallbackOrigins(before)) delete kept.allowedOrigins
  if (by !== 'registration') delete kept.logoUrl
  return kept
}

/** Clients that registered themselves with an earlier version have their origins stored. */
const hasCallbackOrigins = ({ hasDefaultOrigins, allowedOrigins, callbacks }: ChangeableClient): boolean =>
  hasDefaultOrigins || isDeepStrictEqual(allowedOrigins, listCallbackOrigins(callbacks))
