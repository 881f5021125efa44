import type { ComponentChildren, VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { STYLESHEET_PATH } from '../assets/stylesheet.ts'
import { ThemeStyle } from './render-page.pages.tsx'

/** What pages show of a tenant. */
export type PageTenant = {
  tenantId: string
  friendlyName?: string | null
  logoUrl?: string | null
  supportUrl?: string | null
}

/** What pages show of the application that a person came from. */
export type PageClient = { name: string; logoUrl?: string | null; themeColor?: string | null }

/** Where a page's forms go (POST), and the token that binds them to this interaction. */
export type PageInteraction = { action: string; csrf: string }

const linkProtocols = new Set(['https:', 'http:'])

/** The URL when a person may follow it; null for `javascript:` and the like. */
export const safeLink = (url: string | null | undefined): string | null =>
  url && URL.canParse(url) && linkProtocols.has(new URL(url).protocol) ? url : null

/** The URL when it can be the source of an image under the pages' policy; null otherwise. */
export const safeImage = (url: string | null | undefined): string | null =>
  url && URL.canParse(url) && (new URL(url).protocol === 'https:' || /^data:image\//i.test(url)) ? url : null

export const nameOf = (tenant: PageTenant): string => tenant.friendlyName || tenant.tenantId

/** Any name, address or other text of unknown length and direction. */
export const Given = ({ children }: { children: ComponentChildren }): VNode => (
  <bdi class="given">{children}</bdi>
)

function Logo({ url, class: className }: { url: string | null | undefined; class: string }): VNode | null {
  const source = safeImage(url)
  // The name stands beside it in text: an alternative text would only be read twice.
  return source ? <img class={className} src={source} alt="" referrerpolicy="no-referrer" /> : null
}

type ShellProps = {
  title: string
  tenant?: PageTenant | null
  client?: PageClient | null
  /** Something is wrong: said first in the title, where a screen reader begins. */
  faulty?: boolean
  wide?: boolean
  children: ComponentChildren
}

/** The frame of every hosted page: head, the tenant's name, the card, the support link. */
export function PageShell({ title, tenant, client, faulty, wide, children }: ShellProps): VNode {
  const theme = useContext(ThemeStyle)
  const support = safeLink(tenant?.supportUrl)
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{[faulty ? 'Error: ' : '', title, tenant ? ` · ${nameOf(tenant)}` : ''].join('')}</title>
        <link rel="icon" href={safeImage(tenant?.logoUrl) ?? 'data:,'} />
        <link rel="stylesheet" href={STYLESHEET_PATH} />
        {theme && <style>{theme}</style>}
      </head>
      <body>
        <div class={wide ? 'page wide' : 'page'}>
          {tenant && (
            <header class="tenant">
              <Logo url={tenant.logoUrl} class="tenant-logo" />
              <Given>{nameOf(tenant)}</Given>
            </header>
          )}
          <main class="card">
            <Logo url={client?.logoUrl} class="client-logo" />
            {children}
          </main>
          {support && (
            <footer class="support">
              <a href={support} rel="noopener noreferrer">
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
