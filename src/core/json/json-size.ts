/** The size of a value as JSON in UTF-8. */
export const measureJson = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** The length of what is neither an object nor an array. */
const estimateScalar = (value: unknown): number => (typeof value === 'string' ? value.length + 2 : 5)

/** About the length of a value as JSON, without writing it. Beyond `maximum`, little more is counted. */
export function estimateJson(value: unknown, maximum = Number.POSITIVE_INFINITY): number {
  if (typeof value !== 'object' || value === null) return estimateScalar(value)
  let size = 2
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && size <= maximum; index += 1)
      size += 1 + estimateJson(value[index], maximum - size)
    return size
  }
  if (value instanceof Date) return 26
  if (ArrayBuffer.isView(value)) return value.byteLength
  // Most members are scalars: a call for each would take three times as long.
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    size += name.length + 4
    if (typeof member !== 'object' || member === null) size += estimateScalar(member)
    else if (size <= maximum) size += estimateJson(member, maximum - size)
  }
  return size
}
