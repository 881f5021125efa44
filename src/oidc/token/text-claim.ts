import type { JWTPayload } from 'jose'

/** A claim of a token of ours that is a text; null when it is absent or something else. */
export function textClaim(payload: Readonly<JWTPayload>, name: string): string | null {
  const value = payload[name]
  return typeof value === 'string' ? value : null
}
