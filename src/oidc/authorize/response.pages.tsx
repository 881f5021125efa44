import type { VNode } from 'preact'
import { toSafeLink } from '../../core/network/safe-link.ts'
import { FORM_POST_SCRIPT_PATH } from '../../pages/assets/form-post-script.ts'
import { WEB_MESSAGE_SCRIPT_PATH } from '../../pages/assets/web-message-script.ts'
import { BidiText, type PageClient, PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'
import { SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'

type FormPostPageProps = {
  tenant: PageTenant
  client: PageClient
  /** Where the form goes. */
  redirectUri: string
  fields: readonly (readonly [name: string, value: string])[]
}

/**
 * Posts an authorization response to the client (OAuth 2.0 Form Post Response Mode, section 2); a script
 * submits the form.
 */
export const FormPostPage = ({ tenant, client, redirectUri, fields }: FormPostPageProps): VNode => (
  <PageShell
    title={<Message of="back.title" client={client.name} />}
    heading={<Message of="back.title" client={<BidiText>{client.name}</BidiText>} />}
    lead={<Message of="back.lead" />}
    tenant={tenant}
    client={client}
  >
    <form method="post" action={toSafeLink(redirectUri) ?? undefined} id="answer">
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <SubmitButton of="action.continue" />
    </form>
    <script src={FORM_POST_SCRIPT_PATH} defer />
  </PageShell>
)

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
