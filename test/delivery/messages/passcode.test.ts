import { describe, expect, test } from 'vitest'
import { buildAddressMessage } from '../../../src/delivery/messages/address-code.ts'
import type { SentCode } from '../../../src/delivery/messages/code-words.ts'
import { buildPasscodeMail, buildPasscodeSms } from '../../../src/delivery/messages/passcode.ts'
import { isOneSegment } from '../../../src/delivery/sms-segment.ts'
import {
  messageFrame,
  messageTenant,
  sentCode,
  requestingSignIn as signIn,
  source,
} from '../../support/mails.ts'

const tenant = { ...messageTenant, supportUrl: null }
const given = { ...messageFrame, tenant, ...sentCode, signIn }
const named = (name: string, clientName: string | null = null, host = 'id.example.com') => ({
  ...given,
  tenant: { ...tenant, name },
  signIn: { ...signIn, clientName, host },
})
const buildAddressSms = (code: SentCode) => buildAddressMessage({ ...code, source }).sms

describe('the mail with the code of a sign-in', () => {
  test('has code and application in its subject, and says who requested it', () => {
    const { subject, preheader, text } = buildPasscodeMail(given)
    expect(subject).toBe('012345 is your code for Portal (Acme)')
    expect(preheader).toBe('It expires in 10 minutes. Chrome on Linux · Zurich, Switzerland')
    expect(text).toMatchInlineSnapshot(`
      "Sign in to Portal

      Enter this code to sign in to Portal with your account at Acme:

      012345

      It can be used once and expires in 10 minutes.

      Application: Portal
      Browser: Chrome on Linux
      Near: Zurich, Switzerland
      Time: November 23, 2026 at 6:58 AM UTC

      If this was not you, ignore this message: nobody can sign in without the code. Do not share the code with anyone.
      "
    `)
  })

  test('has only names that an administrator chose in its subject, each once', () => {
    const stranger = { ...signIn, isManagedClient: false }
    for (const passcode of [
      { ...given, signIn: stranger },
      { ...given, signIn: null },
      named('Acme', 'Acme'),
      named('Acme', null),
    ])
      expect(buildPasscodeMail(passcode).subject).toBe('012345 is your code for Acme')
  })

  test('leaves out what is unknown', () => {
    const unknown = { ...signIn, clientName: null, userAgent: null, place: null }
    const { text, preheader } = buildPasscodeMail({ ...given, signIn: unknown })
    expect(text).toContain('Sign in to Acme\n\nEnter this code to sign in:\n')
    expect(text).toContain('\n\nTime: November 23, 2026 at 6:58 AM UTC\n')
    expect(preheader).toBe('It expires in 10 minutes.')
  })

  test('says that the code of a sign-up creates an account', () => {
    expect(buildPasscodeMail({ ...given, isSignUp: true }).text).toMatchInlineSnapshot(`
      "Create your account at Acme

      Enter this code to create your account and continue to Portal:

      012345

      It can be used once and expires in 10 minutes.

      Application: Portal
      Browser: Chrome on Linux
      Near: Zurich, Switzerland
      Time: November 23, 2026 at 6:58 AM UTC

      If this was not you, ignore this message: no account is created without the code. Do not share the code with anyone.
      "
    `)
    const { text } = buildPasscodeMail({ ...named('Acme'), isSignUp: true })
    expect(text).toContain('Enter this code to create your account:\n')
  })

  test('names no sign-in when no hosted page requested it', () => {
    expect(buildPasscodeMail({ ...given, signIn: null }).text).toMatchInlineSnapshot(`
      "Your code for Acme

      Enter this code where you were asked for it:

      012345

      It can be used once and expires in 10 minutes.

      If you did not request a code, ignore this message. Do not share the code with anyone.
      "
    `)
  })
})

describe('the mail with the code of an address change', () => {
  test('says what the code is for, and who requested it', () => {
    const { subject, text } = buildAddressMessage({ ...given, source }).mail
    expect(subject).toBe('012345 is your code to confirm your address for Acme')
    expect(text).toMatchInlineSnapshot(`
      "Confirm your address

      Enter this code to make this your address at Acme:

      012345

      It can be used once and expires in 10 minutes.

      Browser: Chrome on Linux
      Near: Zurich, Switzerland
      Time: November 23, 2026 at 6:58 AM UTC

      If you did not request this, ignore this message. Do not share the code with anyone: it would link your address to another account.
      "
    `)
  })
})

describe('the text message with the code of a sign-in', () => {
  test('names the client and binds the code to the host in its last line', () => {
    expect(buildPasscodeSms(given)).toBe(
      '012345 is your Acme code to sign in to Portal. If this was not you, ignore this message: nobody can sign in without the code.\n@id.example.com #012345',
    )
    expect(buildPasscodeSms({ ...given, code: '12345 67890' })).toBe(
      '12345 67890 is your Acme code to sign in to Portal. If this was not you, ignore this message: nobody can sign in without the code.\n@id.example.com #1234567890',
    )
  })

  test.each([
    ['long names', named('Tenant '.repeat(30), 'Client '.repeat(30))],
    ['names of other alphabets', named('株式会社アクメ', 'Портал клиентов')],
    ['right-to-left names', named('חברת אקמי בע״מ', 'بوابة العملاء')],
    ['names of the extension', named('[€]'.repeat(60), '{^}'.repeat(60))],
    ['a long host', named('株式会社アクメ', 'Портал', `login.${'a'.repeat(60)}.example`)],
  ])('fits in one segment with %s, with the whole code', (_what, passcode) => {
    for (const code of ['012345', '12345 67890']) {
      const text = buildPasscodeSms({ ...passcode, code })
      expect(isOneSegment(text)).toBe(true)
      expect(text.startsWith(code)).toBe(true)
      expect(text.split('\n')[1]).toBe(`@${passcode.signIn.host} #${code.replace(' ', '')}`)
    }
  })

  test('names both, cut, rather than the advice in other alphabets', () => {
    expect(buildPasscodeSms(named('株式会社アクメ', 'Портал клиентов', 'id.example'))).toBe(
      '012345: 株式会社アクメ, Портал клиентов\n@id.example #012345',
    )
  })

  test('leaves names out when the host takes their place', () => {
    const host = `login.${'a'.repeat(30)}.example`
    expect(buildPasscodeSms(named('株式会社アクメ', 'Портал', host))).toBe(
      `012345 is your code.\n@${host} #012345`,
    )
  })
})

describe('other text messages with a code', () => {
  test('have no line with a host', () => {
    expect(buildPasscodeSms({ ...given, signIn: null })).toBe(
      '012345 is your code for Acme. It can be used once and expires in 10 minutes.',
    )
    expect(buildAddressSms(given)).toBe(
      '012345 is your code to make this your number at Acme. It can be used once and expires in 10 minutes.',
    )
  })

  test.each([['株式会社アクメ'.repeat(8)], ['Ω'.repeat(60)], ['[€]'.repeat(60)]])(
    'fit in one segment for tenant %s',
    (name) => {
      for (const build of [buildPasscodeSms, buildAddressSms]) {
        const text = build({ ...named(name), code: '12345 67890', signIn: null })
        expect(isOneSegment(text)).toBe(true)
        expect(text).toMatch(/^12345 67890 is your code .*\.$/)
      }
    },
  )
})
