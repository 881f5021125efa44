import type { JWTPayload } from 'jose'

/** Returns a string claim; null when it is absent or not a string. */
export function getTextClaim(payload: Readonly<JWTPayload>, name: string): string | null {
  const value = payload[name]
  return typeof value === 'string' ? value : null
}

/**
 * Formats a member of an untrusted token for diagnostics. The member may be of any type, and nested more
 * deeply than JSON.stringify can serialize.
 */
export function toLogText(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? 'none'
  } catch (error) {
    if (error instanceof RangeError) return 'nested too deeply to be shown'
    throw error
  }
}
