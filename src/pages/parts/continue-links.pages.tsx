import type { ComponentChildren, VNode } from 'preact'
import { toSafeLink } from '../../core/network/safe-link.ts'
import type { PageTenant } from '../page-shell.pages.tsx'
import { LinkButton } from './controls.pages.tsx'

/** The link to continue after a final page; omitted without a safe URL. */
export function ContinueLink({
  to,
  children,
}: {
  to?: string | null
  children: ComponentChildren
}): VNode | null {
  const link = toSafeLink(to)
  if (!link) return null
  return (
    <a class="button primary" href={link}>
      <span>{children}</span>
    </a>
  )
}

/** The link to the account pages, for final pages that lead to no application. */
export const AccountLink = ({ tenant: { tenantId } }: { tenant: PageTenant }): VNode => (
  <LinkButton href={`/${tenantId}/account`} of="account.title" look="secondary" />
)

type WayOnProps = {
  /** The URL where the application starts a sign-in, if it has one. */
  to?: string | null
  /** The text of the link to the application. */
  children: ComponentChildren
  tenant: PageTenant
}

/** The way on after a final page: to the application, or to the account pages. */
export const WayOn = ({ to, tenant, children }: WayOnProps): VNode =>
  toSafeLink(to) ? <ContinueLink to={to}>{children}</ContinueLink> : <AccountLink tenant={tenant} />
