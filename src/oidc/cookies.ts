import { env } from '../env.ts'

const isSecure = env.baseUrl.startsWith('https:')

/** Of the browser session. Over http, on a developer's machine, browsers would drop the prefix and Secure. */
export const SESSION_COOKIE = isSecure ? '__Secure-vst_sid' : 'vst_sid'
/** Of the browser that interactions are bound to. */
export const INTERACTION_COOKIE = isSecure ? '__Secure-vst_ix' : 'vst_ix'

/** A Set-Cookie value. The path keeps tenants from reading each other's; Lax keeps other sites' forms from sending it. */
export function setCookie(tenant: string, name: string, value: string, maxAgeSeconds: number): string {
  return [
    `${name}=${value}`,
    `Path=/${tenant}/`,
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    ...(isSecure ? ['Secure'] : []),
    'SameSite=Lax',
  ].join('; ')
}

export const clearCookie = (tenant: string, name: string): string => setCookie(tenant, name, '', 0)

/** One of ours out of a Cookie header, or null; values that we do not make are none. */
export function readCookie(header: string | null, name: string): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [key, ...rest] = pair.trim().split('=')
    const value = rest.join('=')
    if (key === name && /^[A-Za-z0-9_-]{43}$/.test(value)) return value
  }
  return null
}
