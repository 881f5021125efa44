import { ACR_OTP } from '../../src/core/sign-in-methods.ts'
import type { StepConsent, StepRequest, StepSession } from '../../src/oidc/authorize/step-facts.ts'
import type { ClaimsRequest } from '../../src/oidc/model/claims-request.ts'

export const now = new Date('2026-11-20T12:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
export const request = (more: Partial<StepRequest> = {}): StepRequest => ({
  prompt: [],
  maxAgeSeconds: null,
  subjectHint: null,
  addressHint: null,
  scopes: ['openid', 'email', 'offline_access'],
  resources: [],
  claims: null,
  requireConsent: false,
  supportedAcrs: [ACR_OTP],
  secondFactor: { isUsable: true, isRequired: false },
  hasFirstProof: false,
  hasAccounts: false,
  isAnother: false,
  ...more,
})
const prove = (method: 'passcode' | 'passkey' | 'totp', amr: string[]) => (seconds: number) => ({
  method,
  amr,
  at: ago(seconds).toISOString(),
})
/** A proof of this age. */
export const otp = prove('passcode', ['otp'])
export const phr = prove('passkey', ['hwk', 'user', 'mfa'])
export const totp = prove('totp', ['otp'])
export const session = (more: Partial<StepSession> = {}): StepSession => ({
  userId: 'user_1',
  addresses: ['ada@example.com', '+41791234567'],
  proofs: [otp(100)],
  hasSecondFactor: false,
  signedInAt: null,
  mustAgreeToTerms: false,
  isAmbiguous: false,
  isChosen: false,
  ...more,
})
export const fresh = session({ signedInAt: ago(0), proofs: [otp(0)] })
export const consent = (...scopes: string[]): StepConsent => ({
  scopes,
  claims: [],
  resources: [],
  isFresh: false,
})
export const agreed = consent('openid', 'email', 'offline_access')
export const silent = { prompt: ['none'] } as const
export const requiringConsent = { requireConsent: true }
export const claims = (idToken: ClaimsRequest['id_token'], userinfo: ClaimsRequest['userinfo'] = {}) => ({
  claims: { id_token: idToken, userinfo },
})
export const subject = (sub: string) => claims({ sub: { value: sub } })
export const OTHER_ACR = 'urn:example:other'
