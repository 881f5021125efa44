import type { ComponentChildren, VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { STYLESHEET_PATH } from '../../assets/stylesheet.ts'
import { PopupDisplay, ThemeStyle } from './render-page.pages.tsx'

/** What pages show of a tenant. */
export type PageTenant = {
  tenantId: string
  friendlyName?: string | null
  logoUrl?: string | null
  supportUrl?: string | null
}

/** What pages show of the application that a person came from. */
export type PageClient = {
  name: string
  logoUrl?: string | null
  themeColor?: string | null
  id?: string
  registeredBy?: string
}

/** Where a page's forms go (POST), and the token that binds them to this interaction. */
export type PageInteraction = { action: string; csrf: string }

const linkProtocols = new Set(['https:', 'http:'])

/** The URL when a person may follow it; null for `javascript:` and the like. */
export const safeLink = (url: string | null | undefined): string | null =>
  url && URL.canParse(url) && linkProtocols.has(new URL(url).protocol) ? url : null

/** The URL when it can be the source of an image under the pages' policy; null otherwise. */
const safeImage = (url: string | null | undefined): string | null =>
  url && URL.canParse(url) && (new URL(url).protocol === 'https:' || /^data:image\//i.test(url)) ? url : null

export const nameOf = (tenant: PageTenant): string => tenant.friendlyName || tenant.tenantId

/** Any name, address or other text of unknown length and direction. */
export const Given = ({ children }: { children: ComponentChildren }): VNode => (
  <bdi class="given">{children}</bdi>
)

/** The application's logo, or the first letter of its name in its colour. The name stands beside it in text. */
function ClientMark({ client }: { client: PageClient }): VNode {
  const logo = safeImage(client.logoUrl)
  if (logo) return <img class="mark" src={logo} alt="" width={56} height={56} />
  return (
    <span class="mark" aria-hidden="true">
      {initialOf(client.name)}
    </span>
  )
}

const OutcomeMark = ({ outcome }: { outcome: 'good' | 'bad' }): VNode => (
  <span class={`mark ${outcome}`} aria-hidden="true">
    {outcome === 'good' ? '✓' : '!'}
  </span>
)

/** The first letter of a name, as a person would count. */
export const initialOf = (name: string): string =>
  [...new Intl.Segmenter('en').segment(name.trim())][0]?.segment.toUpperCase() ?? '?'

type ShellProps = {
  /** Of the document. */
  title: string
  /** Of the card; the title when left out. */
  heading?: ComponentChildren
  /** What the page is about, in a sentence. */
  lead?: ComponentChildren
  tenant?: PageTenant | null
  /** Whose mark the card begins with, and whose colour the page has. */
  client?: PageClient | null
  /** How it ended; stands in for the application's mark. */
  outcome?: 'good' | 'bad'
  /** Something is wrong: said first in the title, where a screen reader begins. */
  faulty?: boolean
  /** For the lists of development pages. */
  wide?: boolean
  children: ComponentChildren
}

/** The frame of every hosted page: head, the tenant's name, the card, the support link. */
export function PageShell(props: ShellProps): VNode {
  const { title, tenant, client, outcome, faulty } = props
  const theme = useContext(ThemeStyle)
  // The window's own title has the tenant's name (OIDC Core, section 3.1.2.1: display).
  const isPopup = useContext(PopupDisplay)
  const logo = safeImage(tenant?.logoUrl)
  const support = safeLink(tenant?.supportUrl)
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{[faulty ? 'Error: ' : '', title, tenant ? ` · ${nameOf(tenant)}` : ''].join('')}</title>
        <link rel="icon" href={logo ?? 'data:,'} />
        <link rel="stylesheet" href={STYLESHEET_PATH} />
        {theme && <style>{theme}</style>}
      </head>
      <body>
        <div class={props.wide ? 'page wide' : 'page'}>
          {tenant && !isPopup && (
            <header class="tenant">
              {logo && <img class="tenant-logo" src={logo} alt="" width={32} height={32} />}
              <Given>{nameOf(tenant)}</Given>
            </header>
          )}
          <main class="card">
            <div class="heading">
              {outcome ? <OutcomeMark outcome={outcome} /> : client && <ClientMark client={client} />}
              <h1>{props.heading ?? title}</h1>
              {props.lead && <p class="lead">{props.lead}</p>}
            </div>
            {props.children}
          </main>
          {support && (
            <footer class="support">
              <a href={support} rel="noopener">
                Get help
              </a>
            </footer>
          )}
        </div>
      </body>
    </html>
  )
}

type StepFormProps = {
  interaction: PageInteraction
  step?: string
  class?: string
  children: ComponentChildren
}

/** A form of an interaction. `step` says which of the page's forms was sent; left out when its buttons say it. */
export const StepForm = ({ interaction, step, class: className, children }: StepFormProps): VNode => (
  <form method="post" action={interaction.action} class={className} noValidate>
    <input type="hidden" name="csrf" value={interaction.csrf} />
    {step && <input type="hidden" name="step" value={step} />}
    {children}
  </form>
)

/** What is wrong, tied to its input by `id`; announced when the page appears. */
export const Fault = ({ id, children }: { id?: string; children: ComponentChildren }): VNode => (
  <p class="fault" id={id} role="alert">
    {children}
  </p>
)
