import { describe, expect, test } from 'vitest'
import { CODE_SCRIPT_PATH } from '../../src/pages/assets/code-script.ts'
import { COPY_SCRIPT_PATH } from '../../src/pages/assets/copy-script.ts'
import { ENROLLMENT_SCRIPT_PATH } from '../../src/pages/assets/enrollment-script.ts'
import { FORM_POST_SCRIPT_PATH } from '../../src/pages/assets/form-post-script.ts'
import { LOCAL_TIME_SCRIPT_PATH } from '../../src/pages/assets/local-time-script.ts'
import { PASSKEY_CREATION_SCRIPT_PATH } from '../../src/pages/assets/passkey-creation-script.ts'
import { PASSKEY_SCRIPT_PATH } from '../../src/pages/assets/passkey-script.ts'
import { SUBMIT_SCRIPT_PATH } from '../../src/pages/assets/submit-script.ts'
import { WEB_MESSAGE_SCRIPT_PATH } from '../../src/pages/assets/web-message-script.ts'
import { listTags, pagesWith, renderHtml, TAG } from '../support/pages.tsx'
import { hasServices } from '../support/services.ts'

const PAGES = Object.keys(pagesWith('')) as (keyof ReturnType<typeof pagesWith>)[]
/** The script of a page; the others have none, except those of forms, times and recovery codes. */
const SCRIPTS: Record<string, string> = {
  email: PASSKEY_SCRIPT_PATH,
  'phone-number': PASSKEY_SCRIPT_PATH,
  code: CODE_SCRIPT_PATH,
  totp: CODE_SCRIPT_PATH,
  'totp-setup': CODE_SCRIPT_PATH,
  'account-authenticator-app': CODE_SCRIPT_PATH,
  'passkey-offer': PASSKEY_CREATION_SCRIPT_PATH,
  'passkey-setup': PASSKEY_CREATION_SCRIPT_PATH,
  'passkey-factor': PASSKEY_SCRIPT_PATH,
  enrollment: ENROLLMENT_SCRIPT_PATH,
  'form-post': FORM_POST_SCRIPT_PATH,
  'web-message': WEB_MESSAGE_SCRIPT_PATH,
}
/** What the link to a file of recovery codes begins with. */
const SAVED_CODES = 'data:text/plain;charset=utf-8,'
/** The link and the image of a key for an authenticator app, which the server makes. */
const PAGES_WITH_KEY = ['totp-setup', 'account-authenticator-app']
const OF_KEY = /^(otpauth:\/\/totp\/|data:image\/svg\+xml;base64,)/

describe.runIf(hasServices).each(PAGES)('the %s page', (name) => {
  const attacks = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' onfocus='alert(1)",
    '</title><svg onload=alert(1)>',
    '</style>{{7*7}}',
  ]

  test.each(attacks)('shows %s as text', async (attack) => {
    const html = await renderHtml(pagesWith(attack)[name])
    if (attack.includes('<')) expect(html).not.toContain(attack)
    const tags = listTags(html)
    const scripts = tags.filter((tag) => tag.name === 'script').map((tag) => tag.attributes.src)
    expect(scripts.sort()).toEqual(
      [
        ...(SCRIPTS[name] ? [SCRIPTS[name]] : []),
        ...(html.includes('name="csrf"') ? [SUBMIT_SCRIPT_PATH] : []),
        ...(html.includes('data-local=') ? [LOCAL_TIME_SCRIPT_PATH] : []),
        ...(html.includes(SAVED_CODES) ? [COPY_SCRIPT_PATH] : []),
      ].sort(),
    )
    expect(
      tags
        .flatMap((tag) => Object.keys(tag.attributes))
        .filter((key) => key.startsWith('on') || key === 'style'),
    ).toEqual([])
    // Every tag is one that preact writes: an attack that leaves its text or attribute would remain.
    expect(
      html
        .replace('<!doctype html>', '')
        .replace(TAG, '')
        .replace(/<\/[a-z][a-z0-9]*>/g, ''),
    ).not.toContain('<')
  })

  test.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    ' javascript:alert(1)',
    'vbscript:x',
    'data:text/html,<b>x',
  ])('neither links to %s nor loads it', async (url) => {
    const tags = listTags(await renderHtml(pagesWith(url)[name]))
    const urls = tags.flatMap(({ attributes: { href, src, action } }) => [
      href ?? '/',
      src ?? '/',
      action ?? '/',
    ])
    const isOwn = (value: string) =>
      value.startsWith('/') || value === 'data:,' || value.startsWith(SAVED_CODES)
    const foreign = urls.filter((value) => !isOwn(value))
    expect(foreign.filter((value) => !PAGES_WITH_KEY.includes(name) || !OF_KEY.test(value))).toEqual([])
    expect(tags.filter((tag) => tag.name === 'img' && tag.attributes.class !== 'qr')).toEqual([])
  })

  test('is an English document with one h1, one main and a title', async () => {
    const html = await renderHtml(pagesWith('Ada')[name])
    expect(html).toMatch(/^<!doctype html><html lang="en" dir="ltr">/)
    expect(html.match(/<h1[ >]/g)).toHaveLength(1)
    expect(html.match(/<main[ >]/g)).toHaveLength(1)
    expect(/<title>(.+?)<\/title>/.exec(html)?.[1]).toMatch(/\w/)
    expect(html).toContain('<meta name="viewport" content="width=device-width, initial-scale=1"')
  })

  test('associates labels and descriptions with inputs by unique ids', async () => {
    const tags = listTags(await renderHtml(pagesWith('Ada')[name]))
    const ids = tags.flatMap(({ attributes }) => (attributes.id ? [attributes.id] : []))
    expect(new Set(ids).size).toBe(ids.length)
    const labelled = tags.filter((tag) => tag.name === 'label').map((tag) => tag.attributes.for)
    for (const { attributes } of tags.filter(
      (tag) => tag.name === 'input' && tag.attributes.type !== 'hidden',
    ))
      expect(labelled).toContain(attributes.id)
    for (const { attributes } of tags)
      for (const reference of [attributes['aria-describedby'], attributes['aria-labelledby']]
        .join(' ')
        .split(' ')
        .filter(Boolean))
        expect(ids).toContain(reference)
  })

  test('gives every image an alternative text and every form of an interaction its CSRF token', async () => {
    const html = await renderHtml(pagesWith('Ada')[name])
    for (const tag of listTags(html).filter(({ name }) => name === 'img'))
      expect(tag.attributes).toHaveProperty('alt')
    for (const form of html.match(/<form.*?<\/form>/g) ?? [])
      if (form.includes('method="post"') && name !== 'form-post') {
        expect(form).toContain('action="/acme/signin/handle"')
        expect(form).toContain('<input type="hidden" name="csrf" value="csrf-token"')
      } else expect(form).not.toContain('csrf')
  })
})
