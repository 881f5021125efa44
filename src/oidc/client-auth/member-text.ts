/**
 * A member of a token from outside as text, for the log: it may be of any type, not all of which have a text of their own, and
 * nested more deeply than can be written.
 */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? 'none'
  } catch (error) {
    if (error instanceof RangeError) return 'nested too deeply to be told'
    throw error
  }
}
