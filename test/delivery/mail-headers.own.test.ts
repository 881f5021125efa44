import { beforeEach, describe, expect, test, vi } from 'vitest'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import { deliverMail, setMailRenderer } from '../../src/delivery/mail.ts'
import { mailsWith } from '../support/mails.ts'
import { lastMail } from '../support/message-servers.ts'

const servers = await vi.hoisted(async () =>
  (await import('../support/message-servers.ts')).startMessageServers(),
)

const NAME = 'Zoë & <b>Acme</b>\r\nBcc: eve@evil.example\r\n\u202ePORT'
const CLEANED = 'Zoë & <b>Acme</b> Bcc: eve@evil.example PORT'
const mails = mailsWith(NAME)

beforeEach(() => {
  servers.reset()
  setMailRenderer(renderMail)
})

describe('the subject of a mail', () => {
  test('does not have words that mail programs decode', async () => {
    const name = '=?utf-8?q?Bank=0D=0A=E2=80=AEexample?='
    for (const mail of Object.values(mailsWith(name))) {
      await deliverMail({ to: 'ada@example.com', ...mail })
      expect(lastMail(servers).email.subject).toBe(mail.subject.replaceAll('=?', '= ?'))
    }
  })
})

describe.each(Object.keys(mails))('the mail %s, as a mail server receives it', (kind) => {
  const mail = mails[kind] as (typeof mails)[string]

  test('consists of the same content as text and as HTML', async () => {
    await deliverMail({ to: 'ada@example.com', ...mail })
    const { email, raw } = lastMail(servers)
    expect(raw).toMatch(/^Content-Type: multipart\/alternative;\r\n boundary=/m)
    const types = [...raw.matchAll(/^Content-Type: (text\/\w+); charset=utf-8/gm)].map(([, type]) => type)
    expect(types).toEqual(['text/plain', 'text/html'])
    expect(email.text?.trimEnd()).toBe(mail.text.trimEnd())
    expect(email.html?.trimEnd()).toBe(renderMail(mail))
    expect(email.attachments).toEqual([])
    expect(Buffer.byteLength(raw)).toBeLessThan(40_000)
  })

  test('has the headers of an automatic mail, and an id of the domain of the sender', async () => {
    await deliverMail({ to: 'ada@example.com', ...mail })
    await deliverMail({ to: 'ada@example.com', ...mail })
    const [first, second] = servers.mails.map(({ email }) => email)
    const headers = Object.fromEntries(first?.headers.map(({ key, value }) => [key, value]) ?? [])
    expect(Object.keys(headers).sort()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ])
    expect(headers['auto-submitted']).toBe('auto-generated')
    expect(headers['message-id']).toMatch(/^<[0-9a-f-]{36}@vestibule\.example>$/)
    expect(second?.messageId).not.toBe(first?.messageId)
    expect(first?.from).toEqual({ name: 'Vestibule', address: 'no-reply@vestibule.example' })
    expect(first?.to).toEqual([{ name: '', address: 'ada@example.com' }])
  })

  test('has a subject of one line, with names as text', async () => {
    await deliverMail({ to: 'ada@example.com', ...mail })
    const { to, email } = lastMail(servers)
    expect(to).toEqual(['ada@example.com'])
    expect(email.subject).toBe(mail.subject)
    expect(email.subject).not.toMatch(/\p{Cc}|\u202e/u)
    if (!/address|passkey/.test(mail.subject)) expect(email.subject).toContain('Zoë & <b>Acme</b> Bcc: ')
    expect(email.text).toContain(CLEANED)
  })
})
