import { createHmac } from 'node:crypto'
import { equals } from '../../crypto.ts'

/** What a refresh token says: which grant, which generation of it, and the grant's secret. */
export type RefreshToken = { grantId: string; generation: number; secret: string }

const MAX_GENERATION = 2_147_483_000
const FORM = /^(grant_[0-9a-z]{26})\.(0|[1-9]\d{0,9})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/

const macOf = (tokenKey: Buffer, body: string): string =>
  createHmac('sha256', tokenKey).update(`refresh-token:${body}`).digest('base64url')

/**
 * Writes a refresh token: `grantId.generation.secret.mac`. It is computed, never stored: the same generation of a grant
 * is always the same text, so that a retry gets the identical successor. Forging one takes the tenant's key and the
 * grant's secret, of which the database has but the hash.
 */
export function writeRefreshToken(tokenKey: Buffer, token: RefreshToken): string {
  const body = `${token.grantId}.${token.generation}.${token.secret}`
  return `${body}.${macOf(tokenKey, body)}`
}

/** Reads a refresh token that we wrote; null for anything else, before the database is asked. */
export function readRefreshToken(tokenKey: Buffer, text: string): RefreshToken | null {
  const [, grantId = '', generation = '', secret = '', mac = ''] = FORM.exec(text) ?? []
  if (!mac || !equals(mac, macOf(tokenKey, `${grantId}.${generation}.${secret}`))) return null
  if (Number(generation) > MAX_GENERATION) return null
  return { grantId, generation: Number(generation), secret }
}
