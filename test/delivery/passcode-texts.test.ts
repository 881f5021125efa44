import { describe, expect, test } from 'vitest'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import {
  buildAddressMail,
  buildAddressSms,
  buildPasscodeMail,
  buildPasscodeSms,
} from '../../src/delivery/passcode-texts.ts'
import { isOneSegment } from '../../src/delivery/sms-segment.ts'

const tenant = { name: 'Acme', logoUrl: null, supportUrl: null }
const signIn = {
  clientName: 'Portal',
  browser: 'Chrome on Linux',
  place: 'Zurich, Switzerland',
  requestedAt: new Date('2026-11-23T06:58:00Z'),
  host: 'id.example.com',
}
const given = { tenant, code: '012345', lifetimeMinutes: 10, signIn }
const named = (name: string, clientName: string | null = null, host = 'id.example.com') => ({
  ...given,
  tenant: { ...tenant, name },
  signIn: { ...signIn, clientName, host },
})

describe('the mail with the code of a sign-in', () => {
  test('has the code in its subject, and names client, browser, place and time', () => {
    const { subject, text } = buildPasscodeMail(given)
    expect(subject).toBe('012345 is your code for Acme')
    expect(text).toMatchInlineSnapshot(`
      "Your code for Acme to sign in to Portal:

      012345

      It can be used once and expires in 10 minutes.

      It was requested from Chrome on Linux near Zurich, Switzerland, on November 23, 2026 at 6:58 AM UTC.

      If this was not you, ignore this message: nobody can sign in without the code. Do not share the code with anyone.
      "
    `)
  })

  test('leaves out what is unknown', () => {
    const unknown = { ...signIn, clientName: null, browser: null, place: null }
    const { text } = buildPasscodeMail({ ...given, signIn: unknown })
    expect(text).toContain('Your code for Acme:\n')
    expect(text).toContain('\nIt was requested on November 23, 2026 at 6:58 AM UTC.\n')
  })

  test('says that the code of a sign-up creates an account', () => {
    expect(buildPasscodeMail({ ...given, isSignUp: true }).text).toMatchInlineSnapshot(`
      "Your code to create an account at Acme and continue to Portal:

      012345

      It can be used once and expires in 10 minutes.

      It was requested from Chrome on Linux near Zurich, Switzerland, on November 23, 2026 at 6:58 AM UTC.

      If this was not you, ignore this message: no account is created without the code. Do not share the code with anyone.
      "
    `)
    const { text } = buildPasscodeMail({ ...named('Acme'), isSignUp: true })
    expect(text).toContain('Your code to create an account at Acme:\n')
  })

  test('names no sign-in when no hosted page requested it', () => {
    expect(buildPasscodeMail({ ...given, signIn: null }).text).toMatchInlineSnapshot(`
      "Your code for Acme:

      012345

      It can be used once and expires in 10 minutes.

      If you did not request a code, ignore this message. Do not share the code with anyone.
      "
    `)
  })

  test('contains names as text in one line', () => {
    const mail = buildPasscodeMail(named('A & <b>B</b>\r\nBcc: x', '<i>C</i>'))
    expect(mail.subject).toBe('012345 is your code for A & <b>B</b> Bcc: x')
    expect(renderMail(mail)).toContain('Your code for A &amp; &lt;b>B&lt;/b> Bcc: x to sign in to &lt;i>C')
  })
})

describe('the mail with the code of an address change', () => {
  test('says what the code is for', () => {
    const { subject, text } = buildAddressMail({ ...given, signIn: null })
    expect(subject).toBe('012345 is your code to confirm your address for Acme')
    expect(text).toContain('Your code to make this your address at Acme:\n\n012345\n')
    expect(text).toContain('it would link your address to another account')
  })
})

describe('the HTML of a mail', () => {
  const logoUrl = 'https://acme.example/logo.png'
  const html = renderMail(buildPasscodeMail({ ...given, tenant: { ...tenant, logoUrl } }))

  test('has the words of the text, below 10 KB', () => {
    const { text } = buildPasscodeMail(given)
    for (const line of text.trim().split('\n\n')) expect(html).toContain(`>${line}</p>`)
    expect(html.length).toBeLessThan(10_000)
  })

  test('loads nothing but the logo of the tenant', () => {
    expect(html.match(/https?:[^"')\s]+/g)).toEqual([logoUrl])
    expect(html).not.toMatch(/url\(|@import|<script|<link/)
  })

  test.each([[null], ['http://acme.example/logo.png'], ['data:image/png;base64,AAAA']])(
    'has no image when the logo is %s',
    (url) => {
      const mail = buildPasscodeMail({ ...given, tenant: { ...tenant, logoUrl: url } })
      expect(renderMail(mail)).not.toContain('<img')
    },
  )

  test('has colors for the dark', () => {
    expect(html).toContain('<meta name="color-scheme" content="light dark"/>')
    for (const [, name] of html.matchAll(/class="(card|code|aside|page)"/g))
      expect(html).toMatch(new RegExp(`prefers-color-scheme:dark\\)\\{[^@]*\\.${name}\\{`))
  })
})

describe('the text message with the code of a sign-in', () => {
  test('names the client and binds the code to the host in its last line', () => {
    expect(buildPasscodeSms(given)).toBe(
      '012345 is your code for Acme to sign in to Portal. If this was not you, ignore this message: nobody can sign in without the code.\n@id.example.com #012345',
    )
    expect(buildPasscodeSms({ ...given, code: '12345 67890' })).toBe(
      '12345 67890 is your code for Acme to sign in to Portal. Not you? Ignore this message.\n@id.example.com #1234567890',
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
    expect(buildAddressSms({ ...given, signIn: null })).toBe(
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
