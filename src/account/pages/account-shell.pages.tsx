import type { ComponentChildren, VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  PageShell,
  type PageTenant,
} from '../../pages/page-shell.pages.tsx'

type AccountShellProps = {
  tenant: PageTenant
  title: string
  lead?: ComponentChildren
  /** What was done, as a sentence. */
  notice?: string | null
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
        {notice}
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
        Back to your account
      </a>
    </div>
  </PageShell>
)

/** Shown to a person who left the sign-in of the account pages. */
export const NotSignedInPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title="You are not signed in"
    lead={
      <>
        Sign in to see your <BidiText>{getTenantName(tenant)}</BidiText> account. You can also close this
        page.
      </>
    }
    tenant={tenant}
  >
    <a class="button primary" href={`/${tenant.tenantId}/account`}>
      Sign in
    </a>
  </PageShell>
)
