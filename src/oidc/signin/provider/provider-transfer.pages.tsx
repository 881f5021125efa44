import type { VNode } from 'preact'
import { ContinueLink } from '../../../pages/outcome.pages.tsx'
import { BidiText, type PageClient, PageShell, type PageTenant } from '../../../pages/page-shell.pages.tsx'
import type { PageProvider } from './provider-marks.pages.tsx'

type ProviderTransferPageProps = {
  tenant: PageTenant
  client: PageClient
  provider: PageProvider
  /** The authorization request at the provider. */
  url: string
}

/** Shown until the browser has opened the provider; its response has the header Refresh. */
export const ProviderTransferPage = ({ tenant, client, provider, url }: ProviderTransferPageProps): VNode => (
  <PageShell
    title={`Continue with ${provider.name}`}
    heading={
      <>
        Continue with <BidiText>{provider.name}</BidiText>
      </>
    }
    lead="You sign in there and come back here."
    tenant={tenant}
    client={client}
  >
    <ContinueLink to={url}>Continue</ContinueLink>
  </PageShell>
)
