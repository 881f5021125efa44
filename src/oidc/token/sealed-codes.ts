import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import type { ClaimsRequest } from '../model/claims-request.ts'

/** What an authorization code grants, for whom, and what its redemption must match. See docs/decisions/0095. */
export type CodeContents = {
  /** The grant that is created when the code is redeemed: a code is redeemed once, because a grant is created once. */
  grantId: string
  clientId: string
  userId: string
  sessionId: string
  redirectUri: string
  codeChallenge: string | null
  nonce: string | null
  scopes: string[]
  resources: string[]
  /** The default audience of the tenant when it was issued. */
  defaultAudience: string | null
  /** The organization that tokens are for. */
  organizationId: string | null
  /** The validated claims parameter (OIDC Core, section 5.5). */
  claims: ClaimsRequest | null
  /** Thumbprint of the DPoP key that the code is bound to (RFC 9449, section 10). */
  dpopJkt: string | null
  authenticatedAt: Date
  amr: string[]
  /** The sum of the generations of the user's and of the client's codes when it was issued: a code of an earlier one is void. */
  codeGeneration: number
  expiresAt: Date
}

/** The client redeems a code as soon as the browser delivers it. */
export const CODE_LIFETIME_SECONDS = 60

/** The order of the members in a code, after the grant. A change voids the codes of the former version. */
const MEMBERS = [
  'clientId',
  'userId',
  'sessionId',
  'redirectUri',
  'codeChallenge',
  'nonce',
  'scopes',
  'resources',
  'defaultAudience',
  'organizationId',
  'claims',
  'dpopJkt',
  'authenticatedAt',
  'amr',
  'codeGeneration',
  'expiresAt',
] as const satisfies readonly Exclude<keyof CodeContents, 'grantId'>[]

const ALGORITHM = 'aes-256-gcm'
const TAG_BYTES = 16
/** The key of each code is its own, so that no two messages share a key and an initialization vector. */
const INITIALIZATION_VECTOR = Buffer.alloc(12)
const CODE_SYNTAX = /^(grant_[0-9a-z]{26})\.([A-Za-z0-9_-]+)$/
const CODES_IN_TEXT = /\bgrant_[0-9a-z]{26}\.[A-Za-z0-9_-]+/g
/** A response has one code; the rest of its text may look like more. */
const MAX_CODES_IN_TEXT = 100

const deriveCodeKey = (tokenKey: Buffer, grantId: string): Buffer =>
  createHmac('sha256', tokenKey).update(`authorization-code:${grantId}`).digest()

/**
 * Formats an authorization code: `grantId.sealed`, where the contents are encrypted and authenticated with a key of
 * the tenant and the grant. It is not stored.
 */
export function sealCode(tokenKey: Buffer, contents: CodeContents): string {
  const { grantId } = contents
  const text = JSON.stringify(
    MEMBERS.map((name) => {
      const value = contents[name]
      return value instanceof Date ? value.getTime() : value
    }),
  )
  const cipher = createCipheriv(ALGORITHM, deriveCodeKey(tokenKey, grantId), INITIALIZATION_VECTOR)
  const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return `${grantId}.${sealed.toString('base64url')}`
}

/** What looks like authorization codes in a text, such as a URL or a page: a registered redirect URI may have such a text. */
export const listSealedCodes = (text: string): string[] =>
  [...new Set(text.match(CODES_IN_TEXT) ?? [])].slice(0, MAX_CODES_IN_TEXT)

/** The contents of an authorization code; null for anything that this tenant did not issue. No statement. */
export function unsealCode(tokenKey: Buffer, code: string): CodeContents | null {
  const [, grantId = '', body = ''] = CODE_SYNTAX.exec(code) ?? []
  const sealed = Buffer.from(body, 'base64url')
  // A code has one spelling: the decoder ignores excess bits and characters.
  if (sealed.length <= TAG_BYTES || sealed.toString('base64url') !== body) return null
  const decipher = createDecipheriv(ALGORITHM, deriveCodeKey(tokenKey, grantId), INITIALIZATION_VECTOR, {
    authTagLength: TAG_BYTES,
  }).setAuthTag(sealed.subarray(-TAG_BYTES))
  const text = decipher.update(sealed.subarray(0, -TAG_BYTES), undefined, 'utf8')
  try {
    decipher.final()
  } catch {
    return null
  }
  const values: unknown[] = JSON.parse(text)
  const contents = Object.fromEntries(MEMBERS.map((name, index) => [name, values[index]]))
  return {
    ...(contents as Omit<CodeContents, 'grantId' | 'authenticatedAt' | 'expiresAt'>),
    grantId,
    authenticatedAt: new Date(contents.authenticatedAt as number),
    expiresAt: new Date(contents.expiresAt as number),
  }
}
