import { test as base } from './fixtures.ts'
import { REDIRECT_URI } from './protocol.ts'

/** The largest form and header, in bytes, that the program accepts. */
export const FORM = 65_000
export const HEADER = 15_000
/** The text, repeated up to this length. */
export const repeat = (text: string, length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length)
/** As many different empty parameters as fit into this length. */
export function listParameters(length: number): string {
  let text = ''
  for (let i = 0; text.length < length; i++) text += `${i.toString(36)}=&`
  return text.slice(0, text.lastIndexOf('&'))
}

/** Texts that are expensive for naive parsers, each with a name. */
export const LONG_TEXTS: [name: string, text: string][] = [
  ['one word', repeat('a', FORM)],
  ['words of one letter', repeat('a ', FORM)],
  ['different words', listParameters(FORM).replaceAll('=&', ' ')],
  ['white space', repeat(' ', FORM)],
  ['white space and a letter', `${repeat(' ', FORM)}a`],
  ['tabs and line breaks', repeat('\t\n', FORM)],
  ['dots', repeat('.', FORM)],
  ['@', repeat('@', FORM)],
  ['a@a.', repeat('a@a.', FORM)],
  ['an address of many labels', `a@${repeat('a.', FORM)}`],
  ['an address of many atoms', `${repeat('a.', FORM)}@example.com`],
  ['an open quote', `"${repeat('\\"', FORM)}`],
  ['digits', `+${repeat('1', FORM)}`],
  ['digits and dashes', `+49${repeat('1-(', FORM)}`],
  ['extensions', `+4930${repeat(' ext. 1', FORM)}`],
  ['dashes', repeat('-', FORM)],
  ['language subtags', `de${repeat('-a-aa', FORM)}`],
  ['slashes', repeat('/', FORM)],
  ['a zone', repeat('Europe/', FORM)],
  ['a URL', `https://example.com/${repeat('../', FORM)}`],
  ['a host of many labels', `https://${repeat('a.', FORM)}`],
  ['percent signs', repeat('%', FORM)],
  ['marks that combine', `a${repeat('\u0301', FORM / 3)}`],
  ['letters that expand', repeat('\ufdfa', FORM / 3)],
]

/** `test` with senders of large requests. What is compiled at its first use has been used. */
export const test = base
  .extend('native', { scope: 'file' }, ({ newClient }) =>
    newClient({ appType: 'native', callbacks: [REDIRECT_URI] }),
  )
  .extend(
    'sendForm',
    { scope: 'file' },
    ({ app }) =>
      (path: string, fields: Record<string, string> | string): Promise<Response> =>
        app.fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: typeof fields === 'string' ? fields : String(new URLSearchParams(fields)).slice(0, FORM),
        }),
  )
  .extend(
    'sendJson',
    { scope: 'file' },
    ({ app, token }) =>
      (path: string, body: string): Promise<Response> =>
        app.fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body,
        }),
  )
  .extend('warm', { scope: 'file' }, async ({ tenant, native, gql, sendForm, sendJson }) => {
    for (const [, text] of LONG_TEXTS.slice(0, 8)) {
      const user = { email: text, phoneNumber: text, locale: text }
      await sendForm(`/${tenant}/oidc/token`, { grant_type: text, client_id: native.id })
      await sendJson(`/${tenant}/api/v1/users`, JSON.stringify(user))
      await gql('{ users { nodes { id } } }')
    }
    return true
  })
