import { describe, expect, test } from 'vitest'
import type { ClaimsRequest } from '../../src/oidc/authorize/claims-request.ts'
import {
  nextStep,
  type StepConsent,
  type StepRequest,
  type StepSession,
} from '../../src/oidc/authorize/next-step.ts'

const now = new Date('2026-11-20T12:00:00Z')
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
const request = (more: Partial<StepRequest> = {}): StepRequest => ({
  prompt: [],
  maxAgeSeconds: null,
  subjectHint: null,
  addressHint: null,
  scopes: ['openid', 'email', 'offline_access'],
  claims: null,
  requireConsent: false,
  ...more,
})
const session = (more: Partial<StepSession> = {}): StepSession => ({
  userId: 'user_1',
  addresses: ['ada@example.com', '+41791234567'],
  authenticatedAt: ago(100),
  isFresh: false,
  ...more,
})
const fresh = session({ isFresh: true, authenticatedAt: ago(0) })
const consent = (...scopes: string[]): StepConsent => ({ scopes, claims: [], isFresh: false })
const agreed = consent('openid', 'email', 'offline_access')
const none = { prompt: ['none'] } as const
const asking = { requireConsent: true }
const claims = (idToken: ClaimsRequest['id_token'], userinfo: ClaimsRequest['userinfo'] = {}) => ({
  claims: { id_token: idToken, userinfo },
})
const subject = (sub: string) => claims({ sub: { value: sub } })
const OTHER_ACR = 'urn:vestibule:phishing-resistant'

type Row = [string, StepRequest, StepSession | null, StepConsent | null, string]
const table: Row[] = [
  ['nobody is signed in', request(), null, null, 'login'],
  ['nobody is signed in, prompt=none', request(none), null, null, 'login_required'],
  ['a session is there', request(), session(), null, 'issue'],
  ['a session is there, prompt=none', request(none), session(), null, 'issue'],
  ['prompt=login', request({ prompt: ['login'] }), session(), null, 'login'],
  ['prompt=login, signed in for this request', request({ prompt: ['login'] }), fresh, null, 'issue'],
  ['prompt=select_account', request({ prompt: ['select_account'] }), session(), null, 'select'],
  ['prompt=select_account, nobody signed in', request({ prompt: ['select_account'] }), null, null, 'login'],
  ['prompt=select_account, just signed in', request({ prompt: ['select_account'] }), fresh, null, 'issue'],
  ['prompt=login select_account', request({ prompt: ['login', 'select_account'] }), session(), null, 'login'],
  ['prompt=consent', request({ prompt: ['consent'] }), session(), agreed, 'consent'],
  [
    'prompt=consent, agreed for this request',
    request({ prompt: ['consent'] }),
    session(),
    { ...agreed, isFresh: true },
    'issue',
  ],
  ['prompt=login consent', request({ prompt: ['login', 'consent'] }), session(), null, 'login'],
  [
    'prompt=login consent, just signed in',
    request({ prompt: ['login', 'consent'] }),
    fresh,
    agreed,
    'consent',
  ],
  ['a session within max_age', request({ maxAgeSeconds: 100 }), session(), null, 'issue'],
  ['a session older than max_age', request({ maxAgeSeconds: 99 }), session(), null, 'login'],
  [
    'a session older than max_age, prompt=none',
    request({ ...none, maxAgeSeconds: 99 }),
    session(),
    null,
    'login_required',
  ],
  ['max_age=0', request({ maxAgeSeconds: 0 }), session({ authenticatedAt: now }), null, 'login'],
  ['max_age=0, just signed in', request({ maxAgeSeconds: 0 }), fresh, null, 'issue'],
  ['id_token_hint of this person', request({ ...none, subjectHint: 'user_1' }), session(), null, 'issue'],
  ['id_token_hint of another', request({ subjectHint: 'user_2' }), session(), null, 'login'],
  [
    'id_token_hint of another, prompt=none',
    request({ ...none, subjectHint: 'user_2' }),
    session(),
    null,
    'login_required',
  ],
  [
    'id_token_hint of another than signed in',
    request({ subjectHint: 'user_2' }),
    fresh,
    null,
    'login_required',
  ],
  [
    "login_hint with the person's address",
    request({ addressHint: 'ada@example.com' }),
    session(),
    null,
    'issue',
  ],
  [
    "login_hint with the person's phone number, prompt=none",
    request({ ...none, addressHint: '+41791234567' }),
    session(),
    null,
    'issue',
  ],
  [
    "login_hint with another's address",
    request({ addressHint: 'eve@example.com' }),
    session(),
    null,
    'login',
  ],
  [
    "login_hint with another's address, prompt=none",
    request({ ...none, addressHint: 'eve@example.com' }),
    session(),
    null,
    'login_required',
  ],
  [
    "login_hint with another's address, prompt=select_account",
    request({ prompt: ['select_account'], addressHint: 'eve@example.com' }),
    session(),
    null,
    'login',
  ],
  ['account, agreed to nothing', request({ scopes: ['openid', 'account'] }), session(), null, 'consent'],
  [
    'account, agreed to other scopes, prompt=none',
    request({ ...none, scopes: ['openid', 'account'] }),
    session(),
    agreed,
    'consent_required',
  ],
  [
    'account, agreed to it alone, by a client that needs no consent for the rest',
    request({ scopes: ['openid', 'email', 'account'] }),
    session(),
    consent('account'),
    'issue',
  ],
  ['login_hint, nobody signed in', request({ addressHint: 'eve@example.com' }), null, null, 'login'],
  [
    'login_hint with another address than signed in with: a hint, no demand',
    request({ addressHint: 'eve@example.com' }),
    fresh,
    null,
    'issue',
  ],
  [
    'login_hint of a person without addresses',
    request({ addressHint: 'eve@example.com' }),
    session({ addresses: [] }),
    null,
    'login',
  ],
  ['consent required and not given', request(asking), session(), null, 'consent'],
  [
    'consent required and not given, prompt=none',
    request({ ...asking, ...none }),
    session(),
    null,
    'consent_required',
  ],
  ['consent required and given', request(asking), session(), agreed, 'issue'],
  [
    'consent without one of the scopes',
    request(asking),
    session(),
    consent('openid', 'offline_access'),
    'consent',
  ],
  [
    'consent without offline_access (Core 11)',
    request(asking),
    session(),
    consent('openid', 'email'),
    'consent',
  ],
  [
    'consent given for more',
    request(asking),
    session(),
    consent('openid', 'email', 'offline_access', 'phone'),
    'issue',
  ],
  ['sub of this person', request({ ...none, ...subject('user_1') }), session(), null, 'issue'],
  ['sub of another', request(subject('user_2')), session(), null, 'login'],
  [
    'sub of another, prompt=none',
    request({ ...none, ...subject('user_2') }),
    session(),
    null,
    'login_required',
  ],
  ['sub of another than signed in', request(subject('user_2')), fresh, null, 'login_required'],
  [
    'sub of another in userinfo',
    request({ ...none, ...claims({}, { sub: { value: 'user_2' } }) }),
    session(),
    null,
    'login_required',
  ],
  [
    'sub of this person and an id_token_hint of another',
    request({ ...none, ...subject('user_1'), subjectHint: 'user_2' }),
    session(),
    null,
    'login_required',
  ],
  [
    'an essential acr that we have, among others',
    request(claims({ acr: { essential: true, values: [OTHER_ACR, 'urn:vestibule:otp'] } })),
    session(),
    null,
    'issue',
  ],
  ['an essential acr, whichever', request(claims({ acr: { essential: true } })), session(), null, 'issue'],
  [
    'an essential acr that we do not have: nobody need sign in first',
    request(claims({ acr: { essential: true, values: [OTHER_ACR] } })),
    null,
    null,
    'unmet_authentication_requirements',
  ],
  [
    'an essential acr by one value',
    request(claims({ acr: { essential: true, value: OTHER_ACR } })),
    session(),
    null,
    'unmet_authentication_requirements',
  ],
  ['a voluntary acr', request(claims({ acr: { values: [OTHER_ACR] } })), session(), null, 'issue'],
  [
    'a claim that was not agreed to',
    request({ ...asking, ...claims({}, { birthdate: null }) }),
    session(),
    agreed,
    'consent',
  ],
  [
    'a claim in the ID token that was not agreed to, prompt=none',
    request({ ...asking, ...none, ...claims({ birthdate: { essential: true } }) }),
    session(),
    agreed,
    'consent_required',
  ],
  [
    'a claim that was agreed to',
    request({ ...asking, ...claims({ birthdate: null }, { birthdate: null }) }),
    session(),
    { ...agreed, claims: ['birthdate'] },
    'issue',
  ],
  [
    'a claim that an asked scope covers',
    request({ ...asking, ...claims({ email_verified: null }) }),
    session(),
    agreed,
    'issue',
  ],
  [
    'a claim of a scope that was agreed to before',
    request({ ...asking, scopes: ['openid'], ...claims({ email_verified: null }) }),
    session(),
    agreed,
    'issue',
  ],
  [
    'a scope of which one claim was agreed to',
    request({ ...asking, scopes: ['openid', 'email'] }),
    session(),
    { ...consent('openid'), claims: ['email'] },
    'consent',
  ],
  [
    'what every ID token says',
    request({ ...asking, ...claims({ auth_time: { essential: true }, acr: null }) }),
    session(),
    agreed,
    'issue',
  ],
  [
    'a claim, of a client that needs no consent',
    request(claims({ birthdate: null })),
    session(),
    null,
    'issue',
  ],
]

describe('nextStep (OIDC Core, sections 3.1.2.3, 3.1.2.4 and 3.1.2.6)', () => {
  test.each(table)('%s', (_name, asked, signedIn, given, expected) => {
    const next = nextStep(asked, signedIn, given, now)
    expect(next.step === 'error' ? next.error : next.step).toBe(expected)
  })
})
