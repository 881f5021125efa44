import { isScope, SCOPES } from '../ctx.ts'

/** What a person is asked to allow: the scope and what it means in plain words. */
export type Ask = { scope: string; words: string }

const WORDS: Record<string, string> = {
  openid: 'Know who you are when you sign in',
  profile: 'See your profile: your name, picture, language and other details you filled in',
  email: 'See your email address',
  phone: 'See your phone number',
  address: 'See your postal address',
  offline_access: 'Keep this access while you are not using it',
  session: 'See when you are signed in, and stay signed in along with you',
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
