import { isScope, SCOPES } from '../../ctx.ts'
import { CLAIMS } from '../userinfo/claims.ts'

/** What a person is asked to allow: the scope and what it means in plain words. */
export type Ask = { scope: string; words: string }

const WORDS: Record<string, string> = {
  openid: 'Know who you are when you sign in',
  profile: 'See your profile, such as your name, picture and language',
  email: 'See your email address',
  phone: 'See your phone number',
  address: 'See your postal address',
  offline_access: 'Keep this access when you are not using it',
  session: 'Stay signed in for as long as you are signed in here',
  account: 'Change your profile, your addresses, how you sign in, and which apps may use your account',
}

const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** What one scope means to the person who grants it; a scope nobody described is shown by its name. */
export function wordsOf(scope: string): string {
  if (Object.hasOwn(WORDS, scope)) return WORDS[scope] as string
  if (isScope(scope)) return `${sentenceCase(SCOPES[scope])}, on your behalf`
  return `Use “${scope}”`
}

/** The consent page's list for the scopes of a request, in the order asked, each once. */
export const asksOf = (scopes: readonly string[]): Ask[] =>
  [...new Set(scopes)].map((scope) => ({ scope, words: wordsOf(scope) }))

/** A claim that is asked for by itself, and what it means in plain words. */
export type ClaimAsk = { claim: string; words: string }

/** What one claim means to the person whom it is about; one that we do not have any more is shown by its name. */
export const wordsOfClaim = (claim: string): string =>
  (Object.hasOwn(CLAIMS, claim) && CLAIMS[claim]?.words) || `See “${claim}”`

/** The consent page's list for claims that no asked scope covers (`claimsBeside`). */
export const asksOfClaims = (claims: readonly string[]): ClaimAsk[] =>
  claims.map((claim) => ({ claim, words: wordsOfClaim(claim) }))
