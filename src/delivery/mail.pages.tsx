import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { MailPart, MessageTenant, RichMail } from './mail-content.ts'
import { cleanName } from './names.ts'

/** Styles are attributes, because some mail programs ignore a stylesheet. */
const STYLES = {
  plain: 'margin:0 0 16px',
  code: 'margin:0 0 16px;padding:16px 8px;border-radius:10px;background:#eef1f6;color:#14171f;font:700 28px/1.25 ui-monospace,Menlo,Consolas,monospace;letter-spacing:3px;text-align:center;white-space:nowrap',
  link: 'display:inline-block;padding:12px 24px;border-radius:10px;background:#2f5bd8;color:#ffffff;font-weight:600;text-decoration:none',
  aside:
    'margin:24px 0 0;padding:16px 0 0;border-top:1px solid #d8dde6;color:#5b6270;font-size:14px;line-height:1.5',
}
const BODY =
  'margin:0;padding:0;background:#f4f5f8;color:#14171f;font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'
const CARD = 'padding:32px 24px;border:1px solid #d8dde6;border-radius:14px;background:#ffffff'

/** The colors in the dark. Programs without the media query keep the light ones, or invert them. */
const DARK_CSS = `:root{color-scheme:light dark}@media (prefers-color-scheme:dark){
.page{background:#101218!important;color:#eceef3!important}
.card{background:#191c24!important;border-color:#343945!important}
.code{background:#262b36!important;color:#ffffff!important}
.link{background:#9db4ff!important;color:#10131c!important}
.aside{color:#a9b0be!important;border-color:#343945!important}
}`

const MailPartView = ({ part: { text, style = 'plain', href } }: { part: MailPart }): VNode =>
  href ? (
    <p style={STYLES.plain}>
      <a href={href} class={style} style={STYLES[style]}>
        {text}
      </a>
    </p>
  ) : (
    <p class={style} style={STYLES[style]}>
      {text}
    </p>
  )

/** The name of the tenant with its logo, which is decorative. Mail programs show no images of other schemes. */
const TenantLine = ({ tenant: { name, logoUrl } }: { tenant: MessageTenant }): VNode => (
  <p style="margin:0 0 16px;font-weight:600">
    {logoUrl?.startsWith('https:') && (
      <img
        src={logoUrl}
        alt=""
        width={32}
        height={32}
        style="margin-right:10px;vertical-align:middle;object-fit:contain"
      />
    )}
    <bdi style="vertical-align:middle">{cleanName(name)}</bdi>
  </p>
)

/**
 * Renders a mail as HTML. Preact escapes names of tenants and clients. The logo is the only external resource.
 */
export function renderMail({ subject, tenant, parts }: RichMail): string {
  const html = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>{subject}</title>
        <style>{DARK_CSS}</style>
      </head>
      <body class="page" style={BODY}>
        <table role="presentation" class="page" width="100%" cellPadding="0" cellSpacing="0" style={BODY}>
          <tr>
            <td align="center" style="padding:24px 12px">
              <div style="max-width:480px;text-align:left;overflow-wrap:anywhere">
                <TenantLine tenant={tenant} />
                <div class="card" style={CARD}>
                  {parts.map((part) => (
                    <MailPartView part={part} />
                  ))}
                </div>
              </div>
            </td>
          </tr>
        </table>
      </body>
    </html>
  )
  return `<!doctype html>${renderToString(html)}`
}
