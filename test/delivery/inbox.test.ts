import { H3 } from 'h3'
import { describe, expect, test } from 'vitest'
import { env } from '../../src/core/env.ts'
import { addInboxMessage, listInboxMessages } from '../../src/delivery/inbox.ts'
import { addInboxRoutes } from '../../src/dev/inbox.routes.ts'

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
    const sms = { to: '+41791234567', channel: 'sms', sentAt: '1970-01-01T00:00:00.000Z', body: '<654321>' }
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
})
