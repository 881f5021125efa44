import { env } from '../core/env.ts'
import type { OAuthError } from '../core/oauth-error.ts'

/** A fact about a rejected request, such as "expected" and the registered URL. */
export type ErrorFact = readonly [name: string, value: string]

/** Texts of an application that was not reviewed are never shown. */
const HIDDEN = new Set(['error_description'])

/** Where the repository explains each error code. */
const ERROR_DOCUMENT = 'docs/errors.md#oauth-and-openid-connect-errors'

/**
 * What the developer of an application needs to find the mistake in a rejected request: the error code of the
 * protocol, and what was given and expected. Empty in production, where strangers see the page.
 */
export function listErrorFacts(
  { error, diagnostics }: Pick<OAuthError, 'error' | 'diagnostics'>,
  isProduction = env.isProduction,
): readonly ErrorFact[] {
  if (isProduction) return []
  const facts = Object.entries(diagnostics).filter(([name, value]) => !HIDDEN.has(name) && value !== null)
  return [
    ['error', error],
    ...facts.map(([name, value]): ErrorFact => [name, String(value)]),
    ['documentation', ERROR_DOCUMENT],
  ]
}
