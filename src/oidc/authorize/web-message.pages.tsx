import type { VNode } from 'preact'
import { toSafeLink } from '../../core/safe-link.ts'
import { WEB_MESSAGE_SCRIPT_PATH } from '../../pages/assets/web-message-script.ts'
import { BidiText, type PageClient, PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'

type WebMessagePageProps = {
  tenant: PageTenant
  client: PageClient
  /** The only origin that receives the message. */
  origin: string
  response: Record<string, string>
}

/**
 * Posts an authorization response to the window that started the request (draft-sakimura-oauth-wmrm, section
 * 4). The page stays visible only when there is no such window, or the window did not accept the message.
 */
export const WebMessagePage = ({ tenant, client, origin, response }: WebMessagePageProps): VNode => (
  <PageShell
    title={`Back to ${client.name}`}
    heading={
      <>
        Back to <BidiText>{client.name}</BidiText>
      </>
    }
    lead="If this window does not close by itself, close it and continue in the application’s own."
    tenant={tenant}
    client={client}
  >
    <noscript>
      <p class="error">
        This page needs JavaScript to return to the application. Turn it on and sign in again.
      </p>
    </noscript>
    <a
      class="button primary"
      href={toSafeLink(origin) ?? undefined}
      id="answer"
      data-origin={origin}
      data-message={JSON.stringify({ type: 'authorization_response', response })}
    >
      <span>Open the application</span>
    </a>
    <script src={WEB_MESSAGE_SCRIPT_PATH} defer />
  </PageShell>
)
