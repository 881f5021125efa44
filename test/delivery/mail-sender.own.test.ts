import { beforeEach, describe, expect, vi } from 'vitest'
import { deliverMail } from '../../src/delivery/mail.ts'
import { isAllowedSender } from '../../src/delivery/sender.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { mailsWith, messageTenant } from '../support/mails.ts'
import { lastMail } from '../support/message-servers.ts'
import { test } from '../support/tenant-per-test.ts'

const servers = await vi.hoisted(async () => {
  const { startMessageServers } = await import('../support/message-servers.ts')
  process.env.MAIL_DOMAINS = 'Mail.Example, acme.example'
  return startMessageServers()
})

// The app sets the renderer of mails.
test.beforeAll(({ app: _ }) => {})
beforeEach(() => servers.reset())

const deliver = (sender: object) =>
  deliverMail({
    to: 'ada@example.com',
    ...(mailsWith('', { ...messageTenant, ...sender }).enrollment as ReturnType<typeof mailsWith>[string]),
  })

describe('the sender of the mails of a tenant', () => {
  test('is that of its settings, with the id of the deployment', async ({ ctx, tenant }) => {
    await updateSettings(ctx, {
      mailSenderName: 'Zoë’s Shop, Inc.',
      mailSenderAddress: 'id@mail.example',
      mailReplyTo: 'help@shop.example',
    })
    await sendPasscode(ctx, 'email', { to: `ada@${tenant}.example`, createUser: true })
    const { from, email } = lastMail(servers)
    expect(from).toBe('id@mail.example')
    expect(email.from).toEqual({ name: 'Zoë’s Shop, Inc.', address: 'id@mail.example' })
    expect(email.replyTo).toEqual([{ name: '', address: 'help@shop.example' }])
    expect(email.messageId).toMatch(/@vestibule\.example>$/)
  })

  test('is that of the deployment by default, and keeps its address under another name', async () => {
    await deliver({})
    expect(lastMail(servers).email.from).toEqual({ name: 'Vestibule', address: 'no-reply@vestibule.example' })
    expect(lastMail(servers).email.replyTo).toBeUndefined()
    await deliver({ senderName: 'Acme' })
    expect(lastMail(servers).email.from).toEqual({ name: 'Acme', address: 'no-reply@vestibule.example' })
  })

  test('is never an address of a domain that is no longer in MAIL_DOMAINS', async () => {
    await deliver({ senderName: 'Acme', senderAddress: 'id@former.example' })
    expect(lastMail(servers)).toMatchObject({
      from: 'no-reply@vestibule.example',
      email: { from: { name: 'Acme', address: 'no-reply@vestibule.example' } },
    })
    expect(isAllowedSender('id@ACME.example')).toBe(true)
    expect(isAllowedSender('id@sub.acme.example')).toBe(false)
    expect(isAllowedSender('id@evil.example@acme.example.evil')).toBe(false)
  })

  test.each([
    'Acme\r\nBcc: eve@evil.example',
    'Acme" <eve@evil.example>, "',
    'Acme <eve@evil.example>',
    '\u202eelgooG',
    '=?utf-8?q?Acme=0D=0ABcc:_eve@evil.example?=',
  ])('has no other address or header from the name %j', async (senderName) => {
    await deliver({ senderName })
    const { from, to, email } = lastMail(servers)
    expect([from, to]).toEqual(['no-reply@vestibule.example', ['ada@example.com']])
    expect(email.from?.address).toBe('no-reply@vestibule.example')
    expect(email.from?.name).not.toMatch(/\p{Cc}|\u202e/u)
    expect(email.headers.map(({ key }) => key)).not.toContain('bcc')
  })
})

describe('the settings of the sender', () => {
  test('are rejected with every invalid field, and nothing is changed', async ({ rest, tenant }) => {
    const before = (await rest('GET', '/settings')).body
    const answer = await rest('PATCH', '/settings', {
      friendlyName: tenant,
      mailSenderName: 'Acme\nBcc: eve@evil.example',
      mailSenderAddress: 'id@evil',
      mailReplyTo: 'Eve <eve@evil.example>',
    })
    expect([answer.status, answer.body.fields]).toEqual([
      400,
      [
        { field: 'mailSenderName', description: 'must be one line' },
        {
          field: 'mailSenderAddress',
          description: 'must be an e-mail address in ASCII, such as help@example.com',
        },
        {
          field: 'mailReplyTo',
          description: 'must be an e-mail address in ASCII, such as help@example.com',
        },
      ],
    ])
    expect((await rest('PATCH', '/settings', { mailSenderAddress: 'id@evil.example' })).body.fields).toEqual([
      {
        field: 'mailSenderAddress',
        description: 'must be at a domain from which the deployment permits mail (MAIL_DOMAINS)',
      },
    ])
    expect((await rest('GET', '/settings')).body).toEqual(before)
  })

  test.for([
    'id@mail.example\r\nBcc: eve@evil.example',
    'id@mail.example, eve@evil.example',
    '"a b"@mail.example',
    'idé@mail.example',
    'id@mail.example.',
    '@mail.example',
    'mail.example',
  ])('reject the address %j', async (mailSenderAddress, { rest }) => {
    expect(await rest('PATCH', '/settings', { mailSenderAddress })).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'mailSenderAddress' }] },
    })
  })
})
