import type { ComponentChildren, VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  PageShell,
  type PageTenant,
} from '../../pages/page-shell.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'
import type { Notice } from './notices.ts'

type AccountShellProps = {
  tenant: PageTenant
  title: VNode | string
  lead?: ComponentChildren
  /** What was done. */
  notice?: Notice | null
  /** Why the form was rejected, in sentences. */
  messages?: readonly string[]
  children: ComponentChildren
}

/** The frame of an account page, with the way back to the overview. */
export const AccountShell = ({
  tenant,
  title,
  lead,
  notice,
  messages = [],
  children,
}: AccountShellProps): VNode => (
  <PageShell title={title} lead={lead} tenant={tenant} isError={messages.length > 0} wide>
    {notice && (
      <p class="pending" role="status">
        <Message of={notice} />
      </p>
    )}
    {messages.map((message) => (
      <ErrorMessage key={message}>
        <BidiText>{message}</BidiText>
      </ErrorMessage>
    ))}
    {children}
    <div class="alternatives">
      <a class="button quiet" href={`/${tenant.tenantId}/account`}>
        <Message of="account.back" />
      </a>
    </div>
  </PageShell>
)

/** Shown to a person who left the sign-in of the account pages. */
export const NotSignedInPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title={<Message of="account.signedOutTitle" />}
    lead={<Message of="account.signedOutLead" tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />}
    tenant={tenant}
  >
    <a class="button primary" href={`/${tenant.tenantId}/account`}>
      <Message of="action.signIn" />
    </a>
  </PageShell>
)
