import { describe, expect, test } from 'vitest'
import { buildEnrollmentMail, buildEnrollmentSms } from '../../../src/delivery/messages/enrollment-link.ts'
import { isOneSegment } from '../../../src/delivery/sms-segment.ts'
import { messageFrame, MAIL_LINK as uri } from '../../support/mails.ts'

const { words } = messageFrame
const tenant = { name: 'A & <b>B</b>\r\nBcc: x', logoUrl: null, supportUrl: null }

describe('the messages of an enrollment link', () => {
  test('contain the link, the name of the tenant in one line, and the lifetime', () => {
    const given = { tenant, words, uri, lifetimeHours: 24 }
    const { subject, text } = buildEnrollmentMail(given)
    expect(subject).toBe('Create your passkey for A & <b>B</b> Bcc: x')
    expect(text).toMatchInlineSnapshot(`
      "Create your passkey

      Open this link to create a passkey for A & <b>B</b> Bcc: x on your device. It can be used once and expires in 24 hours.

      Create your passkey:
      https://id.example.com/acme/enroll?token=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx

      If you did not expect this, ignore this message. Do not share the link with anyone.
      "
    `)
    expect(buildEnrollmentSms(given)).toBe(
      `Create your passkey for A & <b>B</b> Bcc: x: ${uri} It expires in 24 hours.`,
    )
  })

  test.each([['Tenant '.repeat(30)], ['株式会社アクメ']])(
    'fit in one text message with the whole link for tenant %s',
    (name) => {
      const text = buildEnrollmentSms({ tenant: { ...tenant, name }, words, uri, lifetimeHours: 24 })
      expect(text).toContain(uri)
      expect(isOneSegment(text)).toBe(true)
    },
  )

  test('leave out the name of the tenant when the link makes it cost a second message', () => {
    const given = { tenant: { ...tenant, name: '株式会社アクメ' }, words, uri, lifetimeHours: 24 }
    expect(buildEnrollmentSms(given)).toBe(`Create your passkey: ${uri}`)
  })
})
