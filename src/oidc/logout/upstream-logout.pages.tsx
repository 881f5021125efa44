import type { VNode } from 'preact'
import { BidiText, type PageClient, PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'
import { ContinueLink } from '../../pages/parts/continue-links.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'

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
    title={<Message of="logout.upstreamTitle" name={name} />}
    heading={<Message of="logout.upstreamTitle" name={<BidiText>{name}</BidiText>} />}
    lead={<Message of="logout.upstreamLead" />}
    tenant={tenant}
    client={client ?? undefined}
  >
    <ContinueLink to={url}>
      <Message of="action.continue" />
    </ContinueLink>
  </PageShell>
)
