import type { VNode } from 'preact'
import { ContinueLink } from '../../pages/outcome.pages.tsx'
import { BidiText, type PageClient, PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'

type UpstreamLogoutPageProps = {
  tenant: PageTenant
  client: PageClient | null
  /** The name of the provider. */
  name: string
  /** The logout at the provider. */
  url: string
}

/** Shown until the browser has opened the logout at the provider; its response has the header Refresh. */
export const UpstreamLogoutPage = ({ tenant, client, name, url }: UpstreamLogoutPageProps): VNode => (
  <PageShell
    title={`Sign out of ${name}`}
    heading={
      <>
        Sign out of <BidiText>{name}</BidiText>
      </>
    }
    lead="You are signed out here. You are signed out there too, and come back."
    tenant={tenant}
    client={client ?? undefined}
  >
    <ContinueLink to={url}>Continue</ContinueLink>
  </PageShell>
)
