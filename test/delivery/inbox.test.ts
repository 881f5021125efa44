import { H3 } from 'h3'
import { describe, expect, test } from 'vitest'
import { env } from '../../src/core/env.ts'
import { addInboxMessage, listInboxMessages } from '../../src/delivery/inbox.ts'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import type { RichMail } from '../../src/delivery/mail-content.ts'
import { addInboxRoutes } from '../../src/dev/inbox.routes.ts'
import { mailsWith } from '../support/mails.ts'

describe('the development inbox', () => {
  const app = new H3()
  addInboxRoutes(app)

  test('returns the last hundred messages as a page and as JSON, filtered by address', async () => {
    for (let i = 0; i < 101; i++)
      addInboxMessage({
        to: `a${i}@example.com`,
        channel: 'email',
        sentAt: new Date(),
        subject: 'S',
        body: 'Code 123456',
      })
    addInboxMessage({ to: '+41791234567', channel: 'sms', sentAt: new Date(0), body: '<654321>' })
    expect(listInboxMessages()).toHaveLength(100)
    const json = async (query: string) => (await app.request(`/dev/inbox.json${query}`)).json()
    expect((await json('')).messages).toHaveLength(100)
    const sms = {
      id: expect.any(String),
      to: '+41791234567',
      channel: 'sms',
      sentAt: '1970-01-01T00:00:00.000Z',
      body: '<654321>',
    }
    expect(await json('?to=%2B41791234567')).toEqual({ messages: [sms] })
    expect(await json('?to=+41791234567')).toEqual({ messages: [sms] })
    expect((await json('?to=A100@Example.com')).messages).toHaveLength(1)
    expect(await json('?to=nobody@example.com')).toEqual({ messages: [] })
    const page = await app.request('/dev/inbox?to=%2B41791234567')
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await page.text()
    expect(html).toContain('654321')
    expect(html).not.toContain('<654321>')
  })

  test('reloads itself, and links to this server and to no other', async () => {
    const [own, other] = [`${env.baseUrl}/acme/enroll?token=x&y`, 'https://evil.example/']
    addInboxMessage({
      to: 'link@example.com',
      channel: 'email',
      sentAt: new Date(),
      body: `${own}\n${other}`,
    })
    const page = await app.request('/dev/inbox?to=link@example.com')
    expect(page.headers.get('refresh')).toBe('5')
    const html = await page.text()
    expect(html).toContain(`<a href="${own.replace('&', '&amp;')}">`)
    expect(html).not.toContain(`href="${other}`)
  })

  test('shows a mail as HTML in a frame that runs no script, and its text', async () => {
    const mail = mailsWith('<script>alert(1)</script>').enrollment as RichMail
    const to = 'designed@example.com'
    const html = renderMail(mail)
    addInboxMessage({
      to,
      channel: 'email',
      sentAt: new Date(),
      subject: mail.subject,
      body: mail.text,
      html,
    })
    const [{ id } = { id: '' }] = listInboxMessages(to)
    expect(await (await app.request(`/dev/inbox?to=${to}`)).text()).toContain(`<a href="/dev/inbox/${id}">`)
    expect((await (await app.request(`/dev/inbox.json?to=${to}`)).json()).messages[0]).not.toHaveProperty(
      'html',
    )

    const page = await app.request(`/dev/inbox/${id}`)
    expect(page.headers.get('content-security-policy')).toContain("; frame-src 'self';")
    const shown = await page.text()
    expect(shown).toContain(
      `<iframe class="mail" src="/dev/inbox/${id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"`,
    )
    expect(shown).toContain('Create your passkey:\n')

    const frame = await app.request(`/dev/inbox/${id}/html`)
    const policy = frame.headers.get('content-security-policy') ?? ''
    expect(policy).toMatch(/^sandbox allow-popups [^;]*; default-src 'none'; .*frame-ancestors 'self'$/)
    expect(policy).not.toContain('script')
    expect(await frame.text()).toBe(html.replace('<head>', '<head><base target="_blank">'))
  })

  test('has no page for a mail that is gone, or for a text message', async () => {
    addInboxMessage({ to: '+41791234568', channel: 'sms', sentAt: new Date(), body: 'Hi' })
    const [{ id } = { id: '' }] = listInboxMessages('+41791234568')
    for (const path of [id, `${id}/html`, 'nothing', 'nothing/html'])
      expect((await app.request(`/dev/inbox/${path}`)).status).toBe(404)
  })
})
