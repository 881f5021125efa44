import type { ClaimsRequest } from '../../src/oidc/model/claims-request.ts'

export const now = new Date('2026-11-20T12:00:00Z')
export const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
const prove = (method: 'passcode' | 'passkey' | 'totp', amr: string[]) => (seconds: number) => ({
  method,
  amr,
  at: ago(seconds).toISOString(),
})
/** A proof of this age. */
export const otp = prove('passcode', ['otp'])
export const phr = prove('passkey', ['hwk', 'user', 'mfa'])
export const totp = prove('totp', ['otp'])
export const claims = (idToken: ClaimsRequest['id_token'], userinfo: ClaimsRequest['userinfo'] = {}) => ({
  claims: { id_token: idToken, userinfo },
})
