import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'

/** What a message about a code says. `tenantName` is what people know the tenant by. */
export type PasscodeText = { tenantName: string; code: string; lifetimeMinutes: number }

/** A name in a line of text: it cannot begin another line or a header. */
const nameIn = (tenantName: string): string => tenantName.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

const lines = ({ tenantName, code, lifetimeMinutes }: PasscodeText) => {
  const name = nameIn(tenantName)
  return {
    subject: `Your code for ${name}`,
    lead: `Your code for ${name}:`,
    code,
    lifetime: `It works once and expires in ${lifetimeMinutes} minutes.`,
    ignore: 'You did not ask for a code? Then ignore this message, and tell the code to nobody.',
  }
}

/** The mail that carries a passcode. By preact, like all HTML here: a tenant's name is data, never markup. */
export function passcodeMail(text: PasscodeText): { subject: string; text: string; html: string } {
  const { subject, lead, code, lifetime, ignore } = lines(text)
  const html = h(
    'html',
    { lang: 'en' },
    h('head', null, h('meta', { charset: 'utf-8' }), h('title', null, subject)),
    h(
      'body',
      { style: 'font-family: sans-serif; line-height: 1.5' },
      h('p', null, lead),
      h('p', { style: 'font-size: 2em; font-weight: bold; letter-spacing: 0.2em' }, code),
      h('p', null, lifetime),
      h('p', { style: 'color: #666' }, ignore),
    ),
  )
  return {
    subject,
    text: `${lead}\n\n${code}\n\n${lifetime}\n\n${ignore}\n`,
    html: `<!doctype html>${renderToString(html)}`,
  }
}

/** The text message that carries a passcode; the code comes first, where a notification shows it. */
export function passcodeSms(text: PasscodeText): string {
  const { code, lifetime } = lines(text)
  return `${code} is your code for ${nameIn(text.tenantName)}. ${lifetime}`
}
