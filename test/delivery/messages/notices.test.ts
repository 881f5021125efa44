import { describe, expect, test } from 'vitest'
import { buildChangeNotice } from '../../../src/delivery/messages/address-changed.ts'
import { buildRecoveryCodeNotice } from '../../../src/delivery/messages/recovery-code-used.ts'
import { buildRecoveryNotice } from '../../../src/delivery/messages/recovery-link.ts'
import { buildGuessNotice } from '../../../src/delivery/messages/wrong-codes.ts'
import { messageFrame as frame, source, MAIL_LINK as uri } from '../../support/mails.ts'

const FACTS = 'Browser: Chrome on Linux\nNear: Zurich, Switzerland\nTime: November 23, 2026 at 6:58 AM UTC'
const { tenant } = frame
const named = { ...frame, tenant: { ...tenant, name: 'A & <b>B</b>\r\nBcc: x' } }

describe('a notice', () => {
  test.each([
    ['a changed address', buildChangeNotice(named, 'phone', source).mail],
    ['wrong codes', buildGuessNotice(named, source).mail],
    ['a used recovery code', buildRecoveryCodeNotice(named, { remaining: 1, source })],
  ])('of %s names the tenant in one line, the request, and where to get help', (_what, { subject, text }) => {
    expect(subject).toContain('at A & <b>B</b> Bcc: x')
    expect(text).toContain('account at A & <b>B</b> Bcc: x')
    expect(text).toContain(`\n\n${FACTS}\n\n`)
    expect(text).toContain(`\n\nGet help: ${tenant.supportUrl}\n`)
  })

  test('names the tenant as the one to contact without a link to help', () => {
    const { mail, sms } = buildChangeNotice(
      { ...frame, tenant: { ...tenant, supportUrl: null } },
      'phone',
      source,
    )
    expect(mail.text).toContain('If this was not you, contact Acme immediately.')
    expect(sms).toBe(
      'The phone number of your account at Acme was changed.\nIf this was not you, contact Acme immediately.',
    )
  })

  test('of a link for a new passkey has the link that cancels it', () => {
    const { mail, sms } = buildRecoveryNotice(frame, { uri, usableAt: source.requestedAt })
    expect(mail.text).toContain(`Cancel the link:\n${uri}\n`)
    for (const text of [mail.text, sms]) {
      expect(text).toContain('It works from November 23, 2026 at 6:58 AM UTC.')
      expect(text).toContain(`\n${uri}\n`)
    }
  })

  test.each([
    [0, 'No codes are left.'],
    [1, 'One code is left.'],
    [9, '9 codes are left.'],
  ])('of a used recovery code says that %d are left', (remaining, words) => {
    expect(buildRecoveryCodeNotice(frame, { remaining, source }).text).toContain(words)
  })
})
