import type { Kind } from './kinds.ts'

/** The values that a snippet is filled in with. */
export type SnippetFacts = { issuer: string; clientId: string; clientSecret?: string; redirectUri: string }

/** How an application of one framework signs users in: the commands, then its files. */
export type Snippet = {
  id: string
  label: string
  kind: Kind
  /** The redirect URI of the framework on the machine of a developer. */
  redirectUri: string | null
  commands: string
  files: readonly { name: string; text: string }[]
  /** Nobody has run it. */
  isUntried?: true
}

/** Lines by which a library accepts an issuer over http. */
const DEVELOPMENT_LINE = /^.*\bhttp, in development only\n/gm

/** Puts values in the place of the marks of a snippet. */
export function fillIn(text: string, { issuer, clientId, clientSecret, redirectUri }: SnippetFacts): string {
  const { origin, port, pathname } = URL.canParse(redirectUri) ? new URL(redirectUri) : new URL('http://app/')
  const values: Record<string, string> = {
    ISSUER: issuer,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret ?? 'your-client-secret',
    REDIRECT_URI: redirectUri,
    ORIGIN: origin,
    PORT: port || '4000',
    PATH: pathname,
  }
  return (issuer.startsWith('http:') ? text : text.replace(DEVELOPMENT_LINE, '')).replace(
    /%([A-Z_]+)%/g,
    (mark, name) => values[name] ?? mark,
  )
}
