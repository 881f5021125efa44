import { beforeAll, describe, expect, test, vi } from 'vitest'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import { deliverMail, setMailRenderer } from '../../src/delivery/mail.ts'
import { mailsWith } from '../support/mails.ts'

const servers = await vi.hoisted(async () =>
  (await import('../support/message-servers.ts')).startMessageServers(),
)

const NAME = 'Zoë & <b>Acme</b>\r\nBcc: eve@evil.example\r\n\u202ePORT'
const CLEANED = 'Zoë & <b>Acme</b> Bcc: eve@evil.example PORT'
const mails = mailsWith(NAME)

/** Each mail is sent twice to an address of its own. */
const toAddress = (kind: string) => `${kind}@example.com`
const findMails = (address: string) => servers.mails.filter(({ to }) => to.includes(address))

beforeAll(async () => {
  setMailRenderer(renderMail)
  const sent = Object.entries(mails).map(([kind, mail]) => ({ to: toAddress(kind), ...mail }))
  await Promise.all([...sent, ...sent].map(deliverMail))
})

describe('the subject of a mail', () => {
  test('does not have words that mail programs decode', async () => {
    const sent = Object.values(mailsWith('=?utf-8?q?Bank=0D=0A=E2=80=AEexample?='))
    await Promise.all(sent.map((mail) => deliverMail({ to: 'eve@example.com', ...mail })))
    expect(
      findMails('eve@example.com')
        .map(({ email }) => email.subject)
        .sort(),
    ).toEqual(sent.map(({ subject }) => subject.replaceAll('=?', '= ?')).sort())
  })
})

describe.each(Object.keys(mails))('the mail %s, as a mail server receives it', (kind) => {
  const mail = mails[kind] as (typeof mails)[string]

  const findMail = () => findMails(toAddress(kind))[0] as (typeof servers.mails)[number]

  test('consists of the same content as text and as HTML', () => {
    const { email, raw } = findMail()
    expect(raw).toMatch(/^Content-Type: multipart\/alternative;\r\n boundary=/m)
    const types = [...raw.matchAll(/^Content-Type: (text\/\w+); charset=utf-8/gm)].map(([, type]) => type)
    expect(types).toEqual(['text/plain', 'text/html'])
    expect(email.text?.trimEnd()).toBe(mail.text.trimEnd())
    expect(email.html?.trimEnd()).toBe(renderMail(mail))
    expect(email.attachments).toEqual([])
    expect(Buffer.byteLength(raw)).toBeLessThan(40_000)
  })

  test('has the headers of an automatic mail, and an id of the domain of the sender', () => {
    const [first, second] = findMails(toAddress(kind)).map(({ email }) => email)
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
    expect(first?.to).toEqual([{ name: '', address: toAddress(kind) }])
  })

  test('has a subject of one line, with names as text', () => {
    const { to, email } = findMail()
    expect(to).toEqual([toAddress(kind)])
    expect(email.subject).toBe(mail.subject)
    expect(email.subject).not.toMatch(/\p{Cc}|\u202e/u)
    if (!/address|passkey/.test(mail.subject)) expect(email.subject).toContain('Zoë & <b>Acme</b> Bcc: ')
    expect(email.text).toContain(CLEANED)
  })
})
