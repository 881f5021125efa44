import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { MailPart, RichMail } from './mail.ts'

const STYLES = {
  plain: undefined,
  code: 'font-size: 2em; font-weight: bold; letter-spacing: 0.2em',
  link: 'font-size: 1.2em; font-weight: bold',
  aside: 'color: #666',
}

const MailPartView = ({ part: { text, style: look = 'plain', href } }: { part: MailPart }): VNode =>
  href ? (
    <p>
      <a href={href} style={STYLES[look]}>
        {text}
      </a>
    </p>
  ) : (
    <p style={STYLES[look]}>{text}</p>
  )

/** Renders a mail as HTML. Preact escapes names of tenants. */
export function renderMail({ subject, parts }: RichMail): string {
  const html = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{subject}</title>
      </head>
      <body style="font-family: sans-serif; line-height: 1.5">
        {parts.map((part) => (
          <MailPartView part={part} />
        ))}
      </body>
    </html>
  )
  return `<!doctype html>${renderToString(html)}`
}
