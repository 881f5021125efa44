import { createHmac } from 'node:crypto'
import { equalsConstantTime } from '../../core/crypto.ts'

/** The contents of a refresh token: the grant, its generation, and the grant's secret. */
export type RefreshToken = { grantId: string; generation: number; secret: string }

const MAX_GENERATION = 2_147_483_000
const REFRESH_TOKEN_SYNTAX =
  /^(grant_[0-9a-z]{26})\.(0|[1-9]\d{0,9})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/

const computeTokenMac = (tokenKey: Buffer, body: string): string =>
  createHmac('sha256', tokenKey).update(`refresh-token:${body}`).digest('base64url')

/**
 * Formats a refresh token: `grantId.generation.secret.mac`. It is computed, not stored: a generation of a
 * grant always has the same token, so that a retry gets the identical successor. Forging one takes the
 * tenant's key and the secret of the grant, of which the database stores the hash only.
 */
export function formatRefreshToken(tokenKey: Buffer, token: RefreshToken): string {
  const body = `${token.grantId}.${token.generation}.${token.secret}`
  return `${body}.${computeTokenMac(tokenKey, body)}`
}

/**
 * Parses a refresh token and verifies its MAC; null for anything that this tenant did not issue. No
 * statement. See docs/decisions/0001.
 */
export function parseRefreshToken(tokenKey: Buffer, text: string): RefreshToken | null {
  const [, grantId = '', generation = '', secret = '', mac = ''] = REFRESH_TOKEN_SYNTAX.exec(text) ?? []
  if (!mac || !equalsConstantTime(mac, computeTokenMac(tokenKey, `${grantId}.${generation}.${secret}`)))
    return null
  if (Number(generation) > MAX_GENERATION) return null
  return { grantId, generation: Number(generation), secret }
}
