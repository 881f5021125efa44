/** The size of a value as JSON in UTF-8. */
export const measureJson = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** About the length of a value as JSON, without writing it. Beyond `maximum`, the rest is not counted. */
export function estimateJson(value: unknown, maximum = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 5
  if (value instanceof Date) return 26
  if (ArrayBuffer.isView(value)) return value.byteLength
  let size = 2
  if (Array.isArray(value))
    for (const item of value) {
      size += 1 + estimateJson(item, maximum - size)
      if (size > maximum) break
    }
  else
    for (const name in value) {
      size += name.length + 4 + estimateJson((value as Record<string, unknown>)[name], maximum - size)
      if (size > maximum) break
    }
  return size
}
