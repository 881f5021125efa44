import { describe, expect, test } from 'vitest'
import { type DescribedSettings, describeSignIn } from '../../console/src/screens/sign-in/describe-sign-in.ts'

/** The settings of a new tenant. */
const NEW: DescribedSettings = {
  signInMethods: ['PASSCODE', 'PASSKEY', 'PROVIDER'],
  passcodeChannels: ['EMAIL', 'SMS'],
  offerPasskey: true,
  signUp: 'OFF',
  signUpDomains: [],
  signUpFields: [{ field: 'name', required: true }],
  invitationLifetimeSeconds: 259_200,
  secondFactor: 'IF_ENROLLED',
  secondFactorRoles: [],
  staySignedIn: 'ALWAYS',
  sessionIdleSeconds: 43_200,
  sessionLifetimeSeconds: 2_592_000,
  newDeviceNotice: true,
  accountDeletionDays: 0,
}

describe('the description of a sign-in', () => {
  test('says everything about a new tenant', () => {
    expect(describeSignIn(NEW)).toBe(
      'Nobody can create an account: administrators create users, or invite them. ' +
        'People sign in with a six-digit code by e-mail or text message, a passkey, or an account at an identity provider. ' +
        'Unless it was a passkey, a person with an authenticator app enters its code. ' +
        'A person without a passkey is offered to create one. ' +
        'The browser keeps the sign-in when it is closed; it ends 12 hours after its last use, and 30 days after the sign-in at the latest. ' +
        'A sign-in from a new browser is reported by mail.',
    )
  })

  test.each<[string, Partial<DescribedSettings>, string]>([
    [
      'an open sign-up',
      { signUp: 'OPEN' },
      'Anybody can create an account with an e-mail address, confirms it with a six-digit code and enters name.',
    ],
    [
      'a sign-up without fields and with terms',
      { signUp: 'OPEN', signUpFields: [], termsUrl: 'https://acme.example/terms' },
      'Anybody can create an account with an e-mail address, confirms it with a six-digit code and agrees to the terms of use.',
    ],
    [
      'fields with a label, of the profile, and of the tenant',
      {
        signUp: 'OPEN',
        signUpFields: [
          { field: 'givenName', required: true },
          { field: 'userMetadata.plan', required: false },
          { field: 'userMetadata.x', label: 'Company', required: false },
        ],
      },
      'enters first name, plan (optional), and Company (optional).',
    ],
    [
      'domains',
      { signUp: 'DOMAINS', signUpDomains: ['a.example', 'b.example'] },
      'an e-mail address at a.example or b.example, confirms',
    ],
    ['domains that are missing', { signUp: 'DOMAINS' }, 'at a domain that is still to be named'],
    [
      'invitations',
      { signUp: 'INVITATION' },
      'A new account needs an invitation, whose link works for 3 days.',
    ],
    [
      'a sign-up that codes do not permit',
      { signUp: 'OPEN', signInMethods: ['PASSKEY'] },
      'Nobody can create an account, because codes by e-mail are off.',
    ],
    ['a sign-up without e-mail', { signUp: 'OPEN', passcodeChannels: ['SMS'] }, 'codes by e-mail are off'],
    [
      'one method',
      { signInMethods: ['PROVIDER'] },
      'People sign in with an account at an identity provider.',
    ],
    ['no method', { signInMethods: [] }, 'Nobody can sign in: there is no method.'],
    ['passkeys only', { signInMethods: ['PASSKEY'] }, 'A passkey is two factors by itself'],
    ['a second factor of all', { secondFactor: 'REQUIRED' }, 'everybody then presents a second factor'],
    ['a second factor of nobody', { secondFactor: 'OFF' }, 'nobody is asked for a second factor.'],
    [
      'a second factor of roles',
      { secondFactor: 'OFF', secondFactorRoles: ['admin', 'support'] },
      'Unless it was a passkey, administrators and support always present a second factor.',
    ],
    [
      'a second factor of roles and of those who have one',
      { secondFactorRoles: ['admin'] },
      'a person with an authenticator app enters its code and administrators always present a second factor.',
    ],
    ['a browser that forgets', { staySignedIn: 'OFF' }, 'The browser forgets the sign-in when it is closed'],
    ['a person who is asked', { staySignedIn: 'ASK' }, 'keeps the sign-in if the person says so'],
    [
      'lifetimes',
      { sessionIdleSeconds: 300, sessionLifetimeSeconds: 3600 },
      'it ends 5 minutes after its last use, and 1 hour after',
    ],
    ['a deletion', { accountDeletionDays: 1 }, 'which happens after 1 day.'],
  ])('has words for %s', (_of, settings, words) => {
    expect(describeSignIn({ ...NEW, ...settings })).toContain(words)
  })

  test('leaves out offers and mails that there are not', () => {
    const without = describeSignIn({ ...NEW, offerPasskey: false, newDeviceNotice: false })
    expect(without).not.toMatch(/offered|reported/)
    expect(describeSignIn({ ...NEW, signInMethods: ['PASSCODE'] })).not.toContain('offered')
  })

  test('is whole sentences for every combination of its settings', () => {
    const methods = [[], ['PASSCODE'], ['PASSKEY'], ['PROVIDER', 'PASSCODE'], NEW.signInMethods]
    for (const signInMethods of methods)
      for (const signUp of ['OFF', 'OPEN', 'DOMAINS', 'INVITATION'])
        for (const secondFactor of ['OFF', 'IF_ENROLLED', 'REQUIRED'])
          for (const secondFactorRoles of [[], ['admin']])
            for (const staySignedIn of ['ALWAYS', 'ASK', 'OFF']) {
              const settings = { signInMethods, signUp, secondFactor, secondFactorRoles, staySignedIn }
              expect(describeSignIn({ ...NEW, ...settings })).toMatch(
                /^[A-Z](?!.*(undefined|null|, \.| {2})).*\.$/,
              )
            }
  })
})
