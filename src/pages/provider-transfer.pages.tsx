import type { VNode } from 'preact'
import { BidiText, type PageClient, PageShell, type PageTenant } from './page-shell.pages.tsx'
import { ContinueLink } from './parts/continue-links.pages.tsx'
import { Message } from './parts/words.pages.tsx'

type ProviderTransferPageProps = {
  tenant: PageTenant
  /** The application that the user signs in to, if there is one. */
  client?: PageClient
  provider: { name: string }
  /** The authorization request at the provider. */
  url: string
}

/** Shown until the browser has opened the provider; its response has the header Refresh. */
export const ProviderTransferPage = ({ tenant, client, provider, url }: ProviderTransferPageProps): VNode => (
  <PageShell
    title={<Message of="provider.continueWith" name={provider.name} />}
    heading={<Message of="provider.continueWith" name={<BidiText>{provider.name}</BidiText>} />}
    lead={<Message of="provider.transfer" />}
    tenant={tenant}
    client={client}
  >
    <ContinueLink to={url}>
      <Message of="action.continue" />
    </ContinueLink>
  </PageShell>
)
