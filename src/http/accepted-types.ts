/** A range or coding with the weight 0 (RFC 9110, section 12.4.2). */
export const REFUSED = /;\s*q=0(\.0*)?\s*$/

/** Whether an Accept header admits a media type (RFC 9110, section 12.5.1). The most specific range decides. */
export function isTypeAccepted(accept: string | null, type: string): boolean {
  if (!accept?.trim() || accept === '*/*') return true
  const ranges = accept.toLowerCase().split(',', 100)
  for (const range of [type, type.replace(/\/.*/, '/*'), '*/*']) {
    const found = ranges.find((given) => given.split(';', 1)[0]?.trim() === range)
    if (found !== undefined) return !REFUSED.test(found)
  }
  return false
}
