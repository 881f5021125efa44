import { describe, expect, test } from 'vitest'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import {
  buildChangeNotice,
  buildEnrollmentMail,
  buildEnrollmentSms,
  buildGuessNotice,
} from '../../src/delivery/message-texts.ts'
import { isOneSegment } from '../../src/delivery/sms-segment.ts'

const tenant = { name: 'A & <b>B</b>\r\nBcc: x', logoUrl: null, supportUrl: null }
const uri = `https://id.example.com/acme/enroll?token=${'x'.repeat(43)}`

describe('the messages of an enrollment link', () => {
  test('contain the link, the name of the tenant in one line, and the lifetime', () => {
    const given = { tenant, uri, lifetimeHours: 24 }
    const mail = buildEnrollmentMail(given)
    const { subject, text } = mail
    const html = renderMail(mail)
    expect(subject).toBe('Create your passkey for A & <b>B</b> Bcc: x')
    expect(text).toMatchInlineSnapshot(`
      "Open this link to create a passkey for A & <b>B</b> Bcc: x on your device:

      https://id.example.com/acme/enroll?token=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx

      It can be used once and expires in 24 hours.

      If you did not expect this, ignore this message. Do not share the link with anyone.
      "
    `)
    expect(html).not.toContain('<b>')
    expect(html).toContain(`href="${uri}"`)
    expect(buildEnrollmentSms(given)).toBe(
      `Create your passkey for A & <b>B</b> Bcc: x: ${uri} Expires in 24 hours.`,
    )
  })

  test.each([['Tenant '.repeat(30)], ['株式会社アクメ']])(
    'fit in one text message with the whole link for tenant %s',
    (name) => {
      const text = buildEnrollmentSms({ tenant: { ...tenant, name }, uri, lifetimeHours: 24 })
      expect(text).toContain(uri)
      expect(isOneSegment(text)).toBe(true)
    },
  )

  test('leave out the name of the tenant when the link makes it cost a second message', () => {
    const given = { tenant: { ...tenant, name: '株式会社アクメ' }, uri, lifetimeHours: 24 }
    expect(buildEnrollmentSms(given)).toBe(`Create your passkey: ${uri}`)
  })
})

describe('notices', () => {
  test('contain the name of the tenant in one line, and where to get help', () => {
    const supportUrl = 'https://acme.example/help'
    for (const notice of [
      buildChangeNotice({ ...tenant, supportUrl }, 'phone number'),
      buildGuessNotice({ ...tenant, supportUrl }),
    ]) {
      expect(notice.subject).toContain('at A & <b>B</b> Bcc: x')
      expect(notice.text).toContain(`account at A & <b>B</b> Bcc: x`)
      expect(notice.text).toContain(supportUrl)
      expect(renderMail(notice)).toContain('account at A &amp; &lt;b>B')
    }
  })
})
