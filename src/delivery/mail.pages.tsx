import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { getInitial } from '../core/initial.ts'
import { toSafeLink } from '../core/network/safe-link.ts'
import type { MailContent, MailPart, MessageTenant, RichMail } from './mail-content.ts'
import { LayoutTable, MailPartView } from './mail-parts.pages.tsx'
import { buildDarkCss, buildInlineStyles, type InlineStyles } from './mail-style.ts'
import { cleanName } from './names.ts'

/** Keeps the text of the mail out of the preview of lists, behind a short preheader. */
const PREVIEW_FILLER = '\u034f\u200c\u00a0'.repeat(80)

/** Which URLs are shown as images: those that mail programs show, and in samples uploaded ones. */
const MAIL_IMAGE = /^https:/
const SAMPLE_IMAGE = /^(https:|data:image\/)/

type HeaderProps = { tenant: MessageTenant; styles: InlineStyles; images: RegExp }

/** The logo of the tenant, and the one for dark screens if there is one; the initial of the name without both. */
function MailMark({ tenant, styles, images }: HeaderProps): VNode {
  const toImage = (url: string | null | undefined) => (url && images.test(url) ? url : null)
  const [logo, dark] = [toImage(tenant.logoUrl), toImage(tenant.darkLogoUrl)]
  if (!logo && !dark)
    return (
      <div class="fill" aria-hidden="true" style={styles.initial}>
        {getInitial(cleanName(tenant.name))}
      </div>
    )
  const hasBoth = logo !== null && dark !== null
  return (
    <>
      <img
        class={hasBoth ? 'logo-light' : undefined}
        src={logo ?? dark ?? ''}
        alt=""
        height={40}
        style={styles.logo}
      />
      {hasBoth && <img class="logo-dark" src={dark} alt="" height={40} style={styles.darkLogo} />}
    </>
  )
}

/** The logo and the name of the tenant. */
const MailHeader = ({ tenant, styles, images }: HeaderProps): VNode => (
  <LayoutTable>
    <tr>
      <td valign="top">
        <MailMark tenant={tenant} styles={styles} images={images} />
      </td>
      <td class="text" style={styles.name}>
        <bdi>{cleanName(tenant.name)}</bdi>
      </td>
    </tr>
  </LayoutTable>
)

const MailFooter = ({ links, styles }: { links: MailContent['footer']; styles: InlineStyles }): VNode => (
  <>
    {links.map(({ text, href }, index) => (
      <>
        {index > 0 && ' · '}
        <a href={href} class="link" style={styles.link}>
          {text}
        </a>
      </>
    ))}
  </>
)

/** Outlook for Windows knows no maximal width: it reads a table of its own around the frame. */
const toFixedWidth = (frame: VNode): string =>
  '<!--[if mso]><table role="presentation" width="600" align="center" cellpadding="0" cellspacing="0"><tr><td><![endif]-->' +
  `${renderToString(frame)}<!--[if mso]></td></tr></table><![endif]-->`

/** Whether each link of a part is one that a mail may have. */
const isSafe = (part: MailPart): boolean => part.kind !== 'link' || toSafeLink(part.href) !== null

/**
 * Renders a mail as HTML, for widths from 320 px. Preact escapes names of tenants and clients. The logo is the only
 * external resource. Links that are neither http nor https are left out. See docs/decisions/0085.
 */
export function renderMail(mail: RichMail, { isSample = false } = {}): string {
  const { subject, preheader, heading, tenant, parts, footer, language: lang, direction: dir } = mail
  const styles = buildInlineStyles(tenant, dir)
  const links = footer.filter(({ href }) => toSafeLink(href))
  const frame = (
    <LayoutTable width="100%" style={styles.frame}>
      <tr>
        <td style="padding:0 0 16px">
          <MailHeader tenant={tenant} styles={styles} images={isSample ? SAMPLE_IMAGE : MAIL_IMAGE} />
        </td>
      </tr>
      <tr>
        <td class="card" style={styles.card}>
          <h1 class="text" style={styles.heading}>
            {heading}
          </h1>
          {parts.filter(isSafe).map((part) => (
            <MailPartView part={part} styles={styles} />
          ))}
        </td>
      </tr>
      {links.length > 0 && (
        <tr>
          <td class="muted" style={styles.footer}>
            <MailFooter links={links} styles={styles} />
          </td>
        </tr>
      )}
    </LayoutTable>
  )
  const html = (
    <html lang={lang} dir={dir}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        {/* Phones make no links of codes and dates, and keep the sizes. */}
        <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
        <meta name="x-apple-disable-message-reformatting" />
        <title>{subject}</title>
        <style>{buildDarkCss(tenant)}</style>
      </head>
      <body class="page" style={styles.body}>
        <div style={styles.preheader}>
          {preheader}
          {PREVIEW_FILLER}
        </div>
        {/* Some mail programs keep the body only. */}
        <LayoutTable class="page" width="100%" lang={lang} dir={dir} style={styles.page}>
          <tr>
            <td
              align="center"
              style="padding:24px 12px"
              dangerouslySetInnerHTML={{ __html: toFixedWidth(frame) }}
            />
          </tr>
        </LayoutTable>
      </body>
    </html>
  )
  return `<!doctype html>${renderToString(html)}`
}
