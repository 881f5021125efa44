import { describe, expect, test } from 'vitest'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import type { RichMail } from '../../src/delivery/mail-content.ts'
import { MAIL_LINK, mailsWith, messageTenant } from '../support/mails.ts'
import { listTags, TAG } from '../support/pages.tsx'

const logoUrl = 'https://acme.example/logo.png'
const mails = mailsWith('Acme', { ...messageTenant, logoUrl })
const KINDS = Object.keys(mails)
const ATTACKS = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '</title></style><svg onload=alert(1)>',
  'Acme\r\nBcc: eve@evil.example\r\n\r\n<b>Hi</b>',
  '\u202eelgoog\u2066\u200f',
  '<!-- --><![endif]-->',
]

/** The words of a mail that a person sees, without the filler of the preview. */
const readWords = (html: string): string =>
  html
    .replace(/<(style|title)>.*?<\/\1>/gs, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/[\u034f\u200c\u00a0]/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replace(/\s+/g, ' ')

describe.each(KINDS)('the HTML of the mail %s', (kind) => {
  const mail = mails[kind] as (typeof mails)[string]
  const html = renderMail(mail)

  test('has every fact of its text', () => {
    const links = listTags(html).map(({ attributes }) => attributes.href ?? '')
    const words = `${readWords(html)} ${links.join(' ')}`
    for (const line of mail.text.split(/\n+|: /).filter(Boolean))
      expect(words).toContain(line.replace(/:$/, ''))
  })

  test('has its preheader first, its subject as title, one heading and less than 12 KB', () => {
    expect(readWords(html).trim().startsWith(mail.preheader)).toBe(true)
    expect(html).toContain(`<title>${mail.subject}</title>`)
    expect(html.match(/<h1[ >]/g)).toHaveLength(1)
    expect(html.length).toBeLessThan(12_000)
  })

  test('loads nothing but the logo, and links to the server and the tenant only', () => {
    const tags = listTags(html)
    const sources = tags.flatMap(({ attributes }) => attributes.src ?? [])
    expect(sources).toEqual([logoUrl])
    const links = tags.flatMap(({ attributes }) => attributes.href ?? [])
    for (const link of links) expect([MAIL_LINK, messageTenant.supportUrl]).toContain(link)
    expect(html).not.toMatch(/url\(|@import|<script|<link|srcset|background=/)
  })

  test('has a rule for the dark, and for Outlook, of each of its classes', () => {
    expect(html).toContain('<meta name="color-scheme" content="light dark"/>')
    const [, dark = '', outlook = ''] = /scheme:dark\)\{(.*?\}\})(.*?)<\/style>/s.exec(html) ?? []
    const classes = listTags(html).flatMap(({ attributes }) => attributes.class?.split(' ') ?? [])
    expect(classes.length).toBeGreaterThan(5)
    for (const name of classes) {
      expect(dark).toContain(`.${name}{`)
      expect(outlook).toContain(`[data-ogsc] .${name}{`)
    }
  })

  test('has a width of 600 pixels for Outlook, and widths from 320 for others', () => {
    const [open, frame, close] = html.split(/<!--\[if mso\]>(.*?)<!\[endif\]-->/s).slice(1)
    expect(open).toMatch(/^<table [^>]*width="600"[^>]*><tr><td>$/)
    expect(frame).toMatch(/^<table [^>]*width="100%" style="max-width:600px;/)
    expect(close).toBe('</td></tr></table>')
  })

  test.each(ATTACKS)('shows %j as text of one line', (attack) => {
    const attacked = mailsWith(attack, { ...messageTenant, name: attack, logoUrl })[kind] as typeof mail
    const rendered = renderMail(attacked)
    expect(attacked.subject).not.toMatch(/\p{Cc}|[\u202a-\u202e]/u)
    expect(attacked.text).not.toMatch(/\r|^Bcc/m)
    expect(rendered).not.toMatch(/[\r\u202a-\u202e\u200f]/)
    // Every tag is one that preact writes: an attack that leaves its text or attribute would remain.
    const rest = rendered
      .replace('<!doctype html>', '')
      .replace(/<!--\[if mso\]>(<table [^<]*<tr><td>|<\/td><\/tr><\/table>)<!\[endif\]-->/g, '')
      .replace(TAG, '')
      .replace(/<\/[a-z][a-z0-9]*>/g, '')
    expect(rest).not.toContain('<')
    const attributes = listTags(rendered).flatMap((tag) => Object.keys(tag.attributes))
    expect(attributes.filter((name) => name.startsWith('on'))).toEqual([])
  })

  test('stays below 102 KB with names of the greatest length, at which mail programs cut it', () => {
    const long = renderMail(mailsWith('\u{1f469}\u200d\u{1f680}&'.repeat(500))[kind] as typeof mail)
    expect(Buffer.byteLength(long)).toBeLessThan(20_000)
  })
})

describe('the header of a mail', () => {
  const render = (tenant: Partial<RichMail['tenant']>) =>
    renderMail(mailsWith('', { ...messageTenant, ...tenant })['api-code'] as (typeof mails)[string])

  test.each([
    [null],
    ['http://acme.example/logo.png'],
    ['data:image/png;base64,AAAA'],
    ['javascript:alert(1)'],
  ])('has the initial of the tenant when the logo is %s', (url) => {
    const html = render({ logoUrl: url })
    expect(html).not.toContain('<img')
    expect(html).toMatch(/<div class="fill" aria-hidden="true"[^>]*>A<\/div>/)
  })

  test('isolates a name from right to left', () => {
    const name = 'חברת אקמי בע״מ'
    expect(render({ name })).toContain(`<bdi>${name}</bdi>`)
    expect(render({ name })).toContain(`Your code for \u2068${name}\u2069`)
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', 'mailto:a@b.example'])(
    'has no link to %s',
    (supportUrl) => {
      expect(render({ supportUrl })).not.toContain('href')
    },
  )
})
