import type { VNode } from 'preact'
import { WEB_MESSAGE_SCRIPT_PATH } from '../../assets/web-message-script.ts'
import { Given, type PageClient, PageShell, type PageTenant, safeLink } from '../pages/page-shell.pages.tsx'

type WebMessagePageProps = {
  tenant: PageTenant
  client: PageClient
  /** The only origin that may hear it. */
  origin: string
  response: Record<string, string>
}

/**
 * Tells an authorization response to the window that asked for it (draft-sakimura-oauth-wmrm, section 4). A person sees
 * it only when there is no such window, or it could not be told.
 */
export const WebMessagePage = ({ tenant, client, origin, response }: WebMessagePageProps): VNode => (
  <PageShell
    title={`Back to ${client.name}`}
    heading={
      <>
        Back to <Given>{client.name}</Given>
      </>
    }
    lead="If this window does not close by itself, close it and go on in the application’s own."
    tenant={tenant}
    client={client}
  >
    <noscript>
      <p class="fault">The application can only be told with JavaScript. Turn it on and sign in again.</p>
    </noscript>
    <a
      class="button primary"
      href={safeLink(origin) ?? undefined}
      id="answer"
      data-origin={origin}
      data-message={JSON.stringify({ type: 'authorization_response', response })}
    >
      <span>Open the application</span>
    </a>
    <script src={WEB_MESSAGE_SCRIPT_PATH} defer />
  </PageShell>
)
