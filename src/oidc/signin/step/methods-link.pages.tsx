import type { ComponentChildren, VNode } from 'preact'
import type { PageTenant } from '../../../pages/page-shell.pages.tsx'

/** The link of a message to the page where users add ways to sign in. The sign-in stays open beside it. */
export const createMethodsLink =
  ({ tenantId }: PageTenant) =>
  (parts: ComponentChildren): VNode => (
    <a href={`/${tenantId}/account/sign-in-methods`} target="_blank" rel="noopener">
      {parts}
    </a>
  )
