import type { VNode } from 'preact'
import { toSafeLink } from '../../core/safe-link.ts'
import { WEB_MESSAGE_SCRIPT_PATH } from '../../pages/assets/web-message-script.ts'
import { BidiText, type PageClient, PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'
import { Message } from '../../pages/words.pages.tsx'

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
    title={<Message of="back.title" client={client.name} />}
    heading={<Message of="back.title" client={<BidiText>{client.name}</BidiText>} />}
    lead={<Message of="back.windowLead" />}
    tenant={tenant}
    client={client}
  >
    <noscript>
      <p class="error">
        <Message of="back.script" />
      </p>
    </noscript>
    <a
      class="button primary"
      href={toSafeLink(origin) ?? undefined}
      id="answer"
      data-origin={origin}
      data-message={JSON.stringify({ type: 'authorization_response', response })}
    >
      <span>
        <Message of="back.open" />
      </span>
    </a>
    <script src={WEB_MESSAGE_SCRIPT_PATH} defer />
  </PageShell>
)
