import { rawRequest } from './attacks.ts'
import { test as base } from './fixtures.ts'

export const FORGED = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'gopher',
  'x-forwarded-port': '666',
  'x-forwarded-prefix': '/evil',
  'x-original-url': '/evil',
  'x-rewrite-url': '/evil',
  'x-host': 'evil.example',
  'x-forwarded-server': 'evil.example',
  'x-http-host-override': 'evil.example',
  origin: 'https://evil.example',
  referer: 'https://localhost:3000//evil.example',
  forwarded: 'for=6.6.6.6;host=evil.example;proto=gopher',
}
/** Any trace of the forged headers. Random identifiers may contain '666' or 'evil' alone. */
export const FORGED_VALUE = /evil\.example|\/evil\b|:666\b|gopher/
export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

export const toClaims = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

/** With requests that carry the forged headers. */
export const test = base
  .extend('authorization', { scope: 'file' }, ({ token }) => ({ authorization: `Bearer ${token}` }))
  /** A browser whose requests carry the forged headers; it records every response. */
  .extend('forger', ({ app }) => {
    const cookies = new Map<string, string>()
    const seen: string[] = []
    // A page is loaded without Origin; a form of another origin would be rejected.
    const { origin: _, ...forged } = FORGED
    const open = async (path: string, form?: Record<string, string>) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const headers = { ...forged, ...(cookie && { cookie }), ...(form && FORM) }
      const post = form && { method: 'POST', body: String(new URLSearchParams(form)) }
      const answer = await rawRequest(app.origin, path, headers, post)
      for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      seen.push(JSON.stringify(answer.headers), answer.body)
      return answer
    }
    return { open, seen }
  })
