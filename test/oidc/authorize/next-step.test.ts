import { describe, expect, test } from 'vitest'
import { ACR_OTP, ACR_PHISHING_RESISTANT } from '../../../src/model/sign-in-methods.ts'
import { selectNextStep } from '../../../src/oidc/authorize/next-step.ts'
import type { StepConsent, StepRequest, StepSession } from '../../../src/oidc/authorize/step-facts.ts'
import { ago, claims, now, otp, phr } from '../../support/next-steps.ts'

const request = (more: Partial<StepRequest> = {}): StepRequest => ({
  prompt: [],
  maxAgeSeconds: null,
  subjectHint: null,
  addressHint: null,
  scopes: ['openid', 'email', 'offline_access'],
  resources: [],
  claims: null,
  mappedClaims: [],
  requireConsent: false,
  supportedAcrs: [ACR_OTP],
  secondFactor: { isUsable: true, isRequired: false },
  hasFirstProof: false,
  hasAccounts: false,
  hasPermittedMethod: true,
  isAnother: false,
  ...more,
})
const session = (more: Partial<StepSession> = {}): StepSession => ({
  userId: 'user_1',
  addresses: ['ada@example.com', '+41791234567'],
  proofs: [otp(100)],
  hasSecondFactor: false,
  organization: 'none',
  signedInAt: null,
  mustAgreeToTerms: false,
  isAmbiguous: false,
  isChosen: false,
  ...more,
})
const fresh = session({ signedInAt: ago(0), proofs: [otp(0)] })
const consent = (...scopes: string[]): StepConsent => ({
  scopes,
  claims: [],
  resources: [],
  isFresh: false,
})
const agreed = consent('openid', 'email', 'offline_access')
const silent = { prompt: ['none'] } as const
const requiringConsent = { requireConsent: true }
const subject = (sub: string) => claims({ sub: { value: sub } })
const OTHER_ACR = 'urn:example:other'

const supportedAcrs = [ACR_OTP, ACR_PHISHING_RESISTANT]
const raising = request({ ...claims({ acr: { values: [ACR_PHISHING_RESISTANT] } }), supportedAcrs })
const recentPasskey = request({
  ...claims({ acr: { essential: true, value: ACR_PHISHING_RESISTANT } }),
  supportedAcrs,
  maxAgeSeconds: 10,
})

const outdated = session({ mustAgreeToTerms: true })

/** Of a browser with accounts. */
const choosing = (prompt: StepRequest['prompt']) => request({ prompt, hasAccounts: true })
const several = session({ isAmbiguous: true })
const hinted = request({ addressHint: 'eve@example.com', hasAccounts: true })

type Row = [expected: string, name: string, StepRequest, StepSession | null, StepConsent | null]

describe('selectNextStep (OIDC Core, sections 3.1.2.3, 3.1.2.4 and 3.1.2.6)', () => {
  test.each<Row>([
    ['login', 'no user is signed in', request(), null, null],
    ['login_required', 'no user is signed in, prompt=none', request(silent), null, null],
    ['issue', 'a user is signed in', request(), session(), null],
    ['issue', 'a user is signed in, prompt=none', request(silent), session(), null],
    ['login', 'prompt=login', request({ prompt: ['login'] }), session(), null],
    ['issue', 'prompt=login, signed in for this request', request({ prompt: ['login'] }), fresh, null],
    ['select', 'prompt=select_account', choosing(['select_account']), session(), null],
    ['select', 'prompt=select_account, every account signed out', choosing(['select_account']), null, null],
    ['select', 'several accounts fit', choosing([]), several, null],
    ['account_selection_required', 'several accounts fit, prompt=none', choosing(['none']), several, null],
    ['login', 'several accounts fit, prompt=login', choosing(['login']), several, null],
    ['login', 'prompt=create, several accounts', choosing(['create', 'select_account']), several, null],
    ['login', 'another account was asked for', { ...choosing([]), isAnother: true }, several, null],
    ['issue', 'the account was chosen, with another login_hint', hinted, session({ isChosen: true }), null],
    [
      'issue',
      'the user has just signed in as another account',
      { ...choosing([]), isAnother: true },
      fresh,
      null,
    ],
    [
      'login',
      'prompt=select_account, no user signed in',
      request({ prompt: ['select_account'] }),
      null,
      null,
    ],
    ['issue', 'prompt=select_account, just signed in', request({ prompt: ['select_account'] }), fresh, null],
    ['select', 'prompt=login select_account', choosing(['login', 'select_account']), session(), null],
    ['terms', 'terms of use without consent', request(requiringConsent), outdated, null],
    ['terms', 'terms of use, just signed in', request(), { ...outdated, signedInAt: now }, null],
    ['issue', 'terms of use without consent, prompt=none', request(silent), outdated, null],
    ['login', 'terms of use without consent, prompt=login', request({ prompt: ['login'] }), outdated, null],
    ['consent', 'prompt=consent', request({ prompt: ['consent'] }), session(), agreed],
    [
      'issue',
      'prompt=consent, agreed for this request',
      request({ prompt: ['consent'] }),
      session(),
      { ...agreed, isFresh: true },
    ],
    ['login', 'prompt=login consent', request({ prompt: ['login', 'consent'] }), session(), null],
    [
      'consent',
      'prompt=login consent, just signed in',
      request({ prompt: ['login', 'consent'] }),
      fresh,
      agreed,
    ],
    ['issue', 'a session within max_age', request({ maxAgeSeconds: 100 }), session(), null],
    ['login', 'a session older than max_age', request({ maxAgeSeconds: 99 }), session(), null],
    [
      'login_required',
      'a session older than max_age, prompt=none',
      request({ ...silent, maxAgeSeconds: 99 }),
      session(),
      null,
    ],
    ['login', 'max_age=0', request({ maxAgeSeconds: 0 }), session({ proofs: [otp(0)] }), null],
    ['issue', 'max_age=0, just signed in', request({ maxAgeSeconds: 0 }), fresh, null],
    [
      'issue',
      'id_token_hint of the signed-in user',
      request({ ...silent, subjectHint: 'user_1' }),
      session(),
      null,
    ],
    ['login', 'id_token_hint of another', request({ subjectHint: 'user_2' }), session(), null],
    [
      'login_required',
      'id_token_hint of another, prompt=none',
      request({ ...silent, subjectHint: 'user_2' }),
      session(),
      null,
    ],
    [
      'login_required',
      'id_token_hint of another than the user who just signed in',
      request({ subjectHint: 'user_2' }),
      fresh,
      null,
    ],
    [
      'issue',
      'login_hint with an address of the signed-in user',
      request({ addressHint: 'ada@example.com' }),
      session(),
      null,
    ],
    [
      'issue',
      'login_hint with the phone number of the signed-in user, prompt=none',
      request({ ...silent, addressHint: '+41791234567' }),
      session(),
      null,
    ],
    [
      'login',
      "login_hint with another's address",
      request({ addressHint: 'eve@example.com' }),
      session(),
      null,
    ],
    [
      'login_required',
      "login_hint with another's address, prompt=none",
      request({ ...silent, addressHint: 'eve@example.com' }),
      session(),
      null,
    ],
    [
      'login',
      "login_hint with another's address, prompt=select_account",
      request({ prompt: ['select_account'], addressHint: 'eve@example.com' }),
      session(),
      null,
    ],
    ['consent', 'account, agreed to nothing', request({ scopes: ['openid', 'account'] }), session(), null],
    [
      'consent_required',
      'account, agreed to other scopes, prompt=none',
      request({ ...silent, scopes: ['openid', 'account'] }),
      session(),
      agreed,
    ],
    [
      'issue',
      'account alone agreed to, at a client that needs no consent for other scopes',
      request({ scopes: ['openid', 'email', 'account'] }),
      session(),
      consent('account'),
    ],
    ['login', 'login_hint, no user signed in', request({ addressHint: 'eve@example.com' }), null, null],
    [
      'issue',
      'login_hint with another address than that of the sign-in',
      request({ addressHint: 'eve@example.com' }),
      fresh,
      null,
    ],
    [
      'login',
      'login_hint, signed-in user without addresses',
      request({ addressHint: 'eve@example.com' }),
      session({ addresses: [] }),
      null,
    ],
    ['consent', 'consent required and not given', request(requiringConsent), session(), null],
    [
      'consent_required',
      'consent required and not given, prompt=none',
      request({ ...requiringConsent, ...silent }),
      session(),
      null,
    ],
    ['issue', 'consent required and given', request(requiringConsent), session(), agreed],
    [
      'consent',
      'consent without one of the scopes',
      request(requiringConsent),
      session(),
      consent('openid', 'offline_access'),
    ],
    [
      'consent',
      'consent without offline_access (OIDC Core, section 11)',
      request(requiringConsent),
      session(),
      consent('openid', 'email'),
    ],
    [
      'issue',
      'consent given for more',
      request(requiringConsent),
      session(),
      consent('openid', 'email', 'offline_access', 'phone'),
    ],
    ['issue', 'sub of the signed-in user', request({ ...silent, ...subject('user_1') }), session(), null],
    ['login', 'sub of another', request(subject('user_2')), session(), null],
    [
      'login_required',
      'sub of another, prompt=none',
      request({ ...silent, ...subject('user_2') }),
      session(),
      null,
    ],
    [
      'login_required',
      'sub of another than the user who just signed in',
      request(subject('user_2')),
      fresh,
      null,
    ],
    [
      'login_required',
      'sub of another in userinfo',
      request({ ...silent, ...claims({}, { sub: { value: 'user_2' } }) }),
      session(),
      null,
    ],
    [
      'login_required',
      'sub of the signed-in user, id_token_hint of another',
      request({ ...silent, ...subject('user_1'), subjectHint: 'user_2' }),
      session(),
      null,
    ],
    [
      'issue',
      'an essential acr that is supported, among others',
      request(claims({ acr: { essential: true, values: [OTHER_ACR, 'urn:vestibule:otp'] } })),
      session(),
      null,
    ],
    [
      'issue',
      'an essential acr without a value',
      request(claims({ acr: { essential: true } })),
      session(),
      null,
    ],
    [
      'unmet_authentication_requirements',
      'an essential acr that is not supported, before a sign-in',
      request(claims({ acr: { essential: true, values: [OTHER_ACR] } })),
      null,
      null,
    ],
    [
      'unmet_authentication_requirements',
      'an essential acr by one value',
      request(claims({ acr: { essential: true, value: OTHER_ACR } })),
      session(),
      null,
    ],
    [
      'issue',
      'a voluntary acr that is unknown',
      request(claims({ acr: { values: [OTHER_ACR] } })),
      session(),
      null,
    ],
    ['login', 'a voluntary acr that the session lacks', raising, session(), null],
    [
      'issue',
      'a voluntary acr that the session lacks, prompt=none',
      { ...raising, ...silent },
      session(),
      null,
    ],
    ['issue', 'a voluntary acr that the session has', raising, session({ proofs: [phr(100), otp(1)] }), null],
    ['issue', 'a voluntary acr that the new sign-in lacks', raising, fresh, null],
    [
      'login',
      'max_age, for which only the other proof is recent enough',
      recentPasskey,
      session({ proofs: [phr(100), otp(1)] }),
      null,
    ],
    [
      'issue',
      'max_age, for which the required proof is recent enough',
      recentPasskey,
      session({ proofs: [phr(9), otp(100)] }),
      null,
    ],
    [
      'consent',
      'a claim that was not agreed to',
      request({ ...requiringConsent, ...claims({}, { birthdate: null }) }),
      session(),
      agreed,
    ],
    [
      'consent_required',
      'a claim in the ID token that was not agreed to, prompt=none',
      request({ ...requiringConsent, ...silent, ...claims({ birthdate: { essential: true } }) }),
      session(),
      agreed,
    ],
    [
      'issue',
      'a claim that was agreed to',
      request({ ...requiringConsent, ...claims({ birthdate: null }, { birthdate: null }) }),
      session(),
      { ...agreed, claims: ['birthdate'] },
    ],
    [
      'issue',
      'a claim that a requested scope covers',
      request({ ...requiringConsent, ...claims({ email_verified: null }) }),
      session(),
      agreed,
    ],
    [
      'issue',
      'a claim of a scope that was agreed to before',
      request({ ...requiringConsent, scopes: ['openid'], ...claims({ email_verified: null }) }),
      session(),
      agreed,
    ],
    [
      'consent',
      'a scope of which one claim was agreed to',
      request({ ...requiringConsent, scopes: ['openid', 'email'] }),
      session(),
      { ...consent('openid'), claims: ['email'] },
    ],
    [
      'issue',
      'claims of every ID token',
      request({ ...requiringConsent, ...claims({ auth_time: { essential: true }, acr: null }) }),
      session(),
      agreed,
    ],
    [
      'issue',
      'a claim, at a client that needs no consent',
      request(claims({ birthdate: null })),
      session(),
      null,
    ],
  ])('returns %s: %s', (expected, _name, asked, signedIn, given) => {
    const next = selectNextStep(asked, signedIn, given, now)
    expect(next.step === 'error' ? next.error : next.step).toBe(expected)
  })
})
