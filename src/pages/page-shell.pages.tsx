import type { ComponentChildren, VNode } from 'preact'
import { useContext } from 'preact/hooks'
import { toSafeLink } from '../core/network/safe-link.ts'
import type { Brand } from '../model/brand.ts'
import { buildFaviconPath } from './assets/favicon.ts'
import { STYLESHEET_PATH } from './assets/stylesheet.ts'
import { SUBMIT_SCRIPT_PATH } from './assets/submit-script.ts'
import { LanguageMenu, LanguageReturn } from './parts/language-menu.pages.tsx'
import { ClientMark, type Outcome, OutcomeMark, TenantLogo } from './parts/logos.pages.tsx'
import { hasTenantLogo, useTenantImage } from './parts/page-images.pages.tsx'
import { PageScript } from './parts/page-script.pages.tsx'
import { Message, useWords } from './parts/words.pages.tsx'
import { PopupDisplay, ThemeStyle } from './render-page.pages.tsx'

/** The members of a tenant that pages show. */
export type PageTenant = Brand & {
  tenantId: string
  friendlyName?: string | null
  logoUrl?: string | null
  darkLogoUrl?: string | null
  faviconUrl?: string | null
  supportUrl?: string | null
  termsUrl?: string | null
  privacyUrl?: string | null
}

/** The members of a client that pages show. */
export type PageClient = {
  name: string
  logoUrl?: string | null
  clientUri?: string | null
  policyUrl?: string | null
  termsUrl?: string | null
  /** The page shows those of its language. */
  translations?: unknown
  themeColor?: string | null
  id?: string
  registeredBy?: string
}

/** Where the forms of a page are posted, and their CSRF token. */
export type PageInteraction = { action: string; csrf: string }

export const getTenantName = (tenant: PageTenant): string => tenant.friendlyName || tenant.tenantId

/** Isolates a name, address or other text of unknown direction and length. */
export const BidiText = ({ children }: { children: ComponentChildren }): VNode => (
  <bdi class="given">{children}</bdi>
)

/** The name of a client, which links to its home page. */
export function ClientName({ name, clientUri }: Pick<PageClient, 'name' | 'clientUri'>): VNode {
  const home = toSafeLink(clientUri)
  if (!home) return <BidiText>{name}</BidiText>
  return (
    <a href={home} rel="noopener nofollow" target="_blank">
      <BidiText>{name}</BidiText>
    </a>
  )
}

/** The home page of the client, and where it says how it uses data (OIDC Registration 1.0, section 2). They follow its name. */
function ClientLinks({
  client: { name, clientUri, policyUrl, termsUrl },
}: {
  client: PageClient
}): VNode | null {
  const links = (
    [
      ['terms.title', toSafeLink(termsUrl)],
      ['terms.privacy', toSafeLink(policyUrl)],
    ] as const
  ).flatMap(([key, href]) => (href ? [{ key, href }] : []))
  if (links.length === 0 && !toSafeLink(clientUri)) return null
  return (
    <p class="hint">
      <ClientName name={name} clientUri={clientUri} />
      {links.map(({ key, href }) => (
        <>
          {' · '}
          <a href={href} rel="noopener nofollow" target="_blank" key={key}>
            <Message of={key} />
          </a>
        </>
      ))}
    </p>
  )
}

/** The links of the tenant and the menu of languages below a page. */
function PageFooter({
  tenant: { tenantId, supportUrl, termsUrl, privacyUrl },
}: {
  tenant: PageTenant
}): VNode | null {
  const hasMenu = useContext(LanguageReturn) !== null
  const links = (
    [
      ['page.help', toSafeLink(supportUrl)],
      ['terms.title', toSafeLink(termsUrl)],
      ['terms.privacy', toSafeLink(privacyUrl)],
    ] as const
  ).flatMap(([key, href]) => (href ? [{ key, href }] : []))
  if (links.length === 0 && !hasMenu) return null
  return (
    <footer class="support">
      {links.map(({ key, href }) => (
        <a href={href} rel="noopener" key={key}>
          <Message of={key} />
        </a>
      ))}
      <LanguageMenu tenant={tenantId} />
    </footer>
  )
}

type ShellProps = {
  /** Title of the document. */
  title: VNode | string
  /** Heading of the card; the title by default. */
  heading?: ComponentChildren
  /** A sentence below the heading. */
  lead?: ComponentChildren
  tenant?: PageTenant | null
  /** The client whose mark and color the page shows. */
  client?: PageClient | null
  /** The outcome mark, shown in place of the client's mark; neutral when nothing has changed. */
  outcome?: Outcome
  /** Prefixes the title with "Error:", which screen readers announce first. */
  isError?: boolean
  /** A wide card, for the lists of development pages. */
  wide?: boolean
  children: ComponentChildren
}

/** The frame of every hosted page: head, tenant name, card and support link. */
export function PageShell(props: ShellProps): VNode {
  const { title, tenant, client, outcome, isError } = props
  const theme = useContext(ThemeStyle)
  // The title of a popup window already has the tenant's name (OIDC Core, section 3.1.2.1: display).
  const isPopup = useContext(PopupDisplay)
  const words = useWords()
  const { language, direction } = words
  const showsClient = client && (isPopup || !hasTenantLogo(client, tenant))
  return (
    <html lang={language} dir={direction}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>
          {isError ? words.rich('page.errorTitle', { title }) : title}
          {tenant && ` · ${getTenantName(tenant)}`}
        </title>
        <link rel="icon" href={useTenantImage(tenant, 'faviconUrl') ?? buildFaviconPath(tenant)} />
        <link rel="stylesheet" href={STYLESHEET_PATH} />
        {theme && <style>{theme}</style>}
      </head>
      <body>
        <div class={props.wide ? 'page wide' : 'page'}>
          {tenant && !isPopup && (
            <header class="tenant">
              <TenantLogo tenant={tenant} />
              <BidiText>{getTenantName(tenant)}</BidiText>
            </header>
          )}
          <main class="card">
            <div class="heading">
              {outcome ? (
                <OutcomeMark outcome={outcome} />
              ) : (
                showsClient && <ClientMark client={client} tenant={tenant} />
              )}
              <h1>{props.heading ?? title}</h1>
              {props.lead && <p class="lead">{props.lead}</p>}
            </div>
            {props.children}
            {client && !outcome && <ClientLinks client={client} />}
          </main>
          {tenant && <PageFooter tenant={tenant} />}
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

/** A form of an interaction. `step` names the form; omitted when its buttons have that name. */
export function StepForm({ interaction, step, class: className, children }: StepFormProps): VNode {
  return (
    <form method="post" action={interaction.action} class={className} noValidate>
      <input type="hidden" name="csrf" value={interaction.csrf} />
      {step && <input type="hidden" name="step" value={step} />}
      <PageScript path={SUBMIT_SCRIPT_PATH} />
      {children}
    </form>
  )
}

/** An error, referred to by its input through `id`; announced when the page is shown. */
export const ErrorMessage = ({ id, children }: { id?: string; children: ComponentChildren }): VNode => (
  <p class="error" id={id} role="alert">
    {children}
  </p>
)
