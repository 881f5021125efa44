import 'node:events'
import { describe, expect, test } from 'vitest'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import {
  buildEnrollmentMail,
  buildEnrollmentSms,
  buildPasscodeMail,
  buildPasscodeSms,
} from '../../src/delivery/message-texts.ts'

describe('the messages of a passcode', () => {
  const given = { tenantName: 'A & <b>B</b>\r\nBcc: x', code: '012345', lifetimeMinutes: 10 }

  test('contain the code, the name of the tenant in one line, and the lifetime', () => {
    const mail = buildPasscodeMail(given)
    const { subject, text } = mail
    const html = renderMail(mail)
    expect(subject).toBe('Your code for A & <b>B</b> Bcc: x')
    expect(text).toMatchInlineSnapshot(`
      "Your code for A & <b>B</b> Bcc: x:

      012345

      It can be used once and expires in 10 minutes.

      If you did not request a code, ignore this message. Do not share the code with anyone.
      "
    `)
    expect(html).toContain('Your code for A &amp; &lt;b>B&lt;/b> Bcc: x:')
    expect(html).not.toContain('<b>')
    expect(buildPasscodeSms(given)).toBe(
      '012345 is your code for A & <b>B</b> Bcc: x. It can be used once and expires in 10 minutes.',
    )
  })
})

describe('the messages of an enrollment link', () => {
  test('contain the link, the name of the tenant in one line, and the lifetime', () => {
    const uri = 'https://id.example/acme/enroll?token=x'
    const given = { tenantName: 'A & <b>B</b>\r\nBcc: x', uri, lifetimeHours: 24 }
    const mail = buildEnrollmentMail(given)
    const { subject, text } = mail
    const html = renderMail(mail)
    expect(subject).toBe('Create your passkey for A & <b>B</b> Bcc: x')
    expect(text).toMatchInlineSnapshot(`
      "Open this link to create a passkey for A & <b>B</b> Bcc: x on your device:

      https://id.example/acme/enroll?token=x

      It can be used once and expires in 24 hours.

      If you did not expect this, ignore this message. Do not share the link with anyone.
      "
    `)
    expect(html).not.toContain('<b>')
    expect(html).toContain(`href="${uri}"`)
    expect(buildEnrollmentSms(given)).toBe(
      `Create your passkey for A & <b>B</b> Bcc: x: ${uri} It can be used once and expires in 24 hours.`,
    )
  })
})
