import type { VNode } from 'preact'
import { BidiText, type PageClient, PageShell, type PageTenant } from './page-shell.pages.tsx'
import { ContinueLink } from './parts/continue-links.pages.tsx'
import { StrongText } from './parts/controls.pages.tsx'
import { Message } from './parts/words.pages.tsx'

type LeavePageProps = {
  tenant: PageTenant
  client: PageClient
  /** Where the browser would go. */
  url: string
}

const toPlace = (url: string): string => new URL(url).host || new URL(url).protocol

/**
 * Shown instead of a redirect to an address of a client that no administrator has reviewed: a link to this
 * server must not lead anywhere else unnoticed (RFC 9700, section 4.11.2).
 */
export const LeavePage = ({ tenant, client, url }: LeavePageProps): VNode => (
  <PageShell
    title={<Message of="leave.title" />}
    lead={<Message of="leave.lead" place={<StrongText>{toPlace(url)}</StrongText>} />}
    tenant={tenant}
    client={client}
  >
    <ContinueLink to={url}>
      <Message of="action.continueTo" name={<BidiText>{toPlace(url)}</BidiText>} />
    </ContinueLink>
  </PageShell>
)
