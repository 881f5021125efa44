import type { OAuthErrorCode } from '../../core/oauth-error.ts'
import type { SessionProof } from '../../sessions/proofs.ts'
import type { Authentication } from '../model/authentication.ts'
import type { Prompt } from '../model/authorize-request.ts'
import type { ClaimsRequest } from '../model/claims-request.ts'
import type { SecondFactorTerms } from '../model/second-factor.ts'

import type { OrganizationChoice } from './organization-choice.ts'

/** The parts of an authorize request that decide the next step. */
export type StepRequest = {
  prompt: readonly Prompt[]
  maxAgeSeconds: number | null
  /** The user that the id_token_hint identifies. */
  subjectHint: string | null
  /** The login_hint as an address key; null when it is not an address. */
  addressHint: string | null
  /** The requested scopes that the user can grant. */
  scopes: readonly string[]
  /** The requested APIs that the user consents to. */
  resources: readonly string[]
  claims: ClaimsRequest | null
  /** The claims about the user that the client gets by its mappings and that no scope covers. */
  mappedClaims: readonly string[]
  requireConsent: boolean
  /** The `acr` of each sign-in method of the tenant. */
  supportedAcrs: readonly string[]
  /** Whether the user may, and must, present a second factor. */
  secondFactor: SecondFactorTerms
  /** The user gave a first proof for this request, which a second factor completes. */
  hasFirstProof: boolean
  /** The browser has an account to choose, which may be signed out. */
  hasAccounts: boolean
  /** A method of the tenant, by which the user can sign in for the request, is permitted by the organization of the tokens. */
  hasPermittedMethod: boolean
  /** The user chose to sign in as someone else. */
  isAnother: boolean
}

/** The active session of the browser. */
export type StepSession = {
  userId: string
  /** Address keys of the user. */
  addresses: readonly string[]
  /** Those that count for the organization of the tokens. */
  proofs: readonly SessionProof[]
  hasSecondFactor: boolean
  /** The outcome of the choice of an organization. */
  organization: OrganizationChoice['outcome']
  /** The user has not agreed to the current terms of use. */
  mustAgreeToTerms: boolean
  /** When the user signed in for this request; null if that was before it. */
  signedInAt: Date | null
  /** Other accounts of the browser fit as well. */
  isAmbiguous: boolean
  /** The user chose it for this request, or signed in to it. */
  isChosen: boolean
}

/** What the user has consented to for this client. */
export type StepConsent = {
  scopes: readonly string[]
  /** Individually requested claims. */
  claims: readonly string[]
  resources: readonly string[]
  /** The consent was given during this request. */
  isFresh: boolean
}

/** The rule that a request fails, for its diagnostics. */
export type FailedRule =
  | 'acr'
  | 'account'
  | 'session'
  | 'user'
  | 'login_hint'
  | 'max_age'
  | 'second_factor'
  | 'organization'
  | 'network'
  | 'methods'
  | 'consent'

export type NextStep =
  | { step: 'login' | 'second-factor' | 'terms' | 'organization' | 'consent' | 'select' }
  | { step: 'issue'; authentication: Authentication }
  | { step: 'error'; error: OAuthErrorCode; description: string; rule: FailedRule }
