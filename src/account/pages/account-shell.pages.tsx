import type { ComponentChildren, VNode } from 'preact'
import type { PlainMessageKey } from '../../languages/messages.ts'
import type { PageInteraction } from '../../pages/page-shell.pages.tsx'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  PageShell,
  type PageTenant,
} from '../../pages/page-shell.pages.tsx'
import { LinkButton } from '../../pages/parts/controls.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'
import type { Notice } from './page-problem.ts'

/** What every account page shows. */
export type AccountPageProps = {
  tenant: PageTenant
  /** Where its forms are posted. */
  form: PageInteraction
  timeZone: string | null
  /** What was done. */
  notice?: Notice | null
  /** Why the form was rejected, in sentences. */
  messages?: readonly string[]
}

type AccountShellProps = Pick<AccountPageProps, 'tenant' | 'notice' | 'messages'> & {
  title: PlainMessageKey
  lead: ComponentChildren
  children: ComponentChildren
}

/** The frame of an account page, with the way back to the overview. */
export const AccountShell = ({ tenant, notice, messages = [], ...page }: AccountShellProps): VNode => (
  <PageShell
    title={<Message of={page.title} />}
    lead={page.lead}
    tenant={tenant}
    isError={messages.length > 0}
    wide
  >
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
    {page.children}
    <div class="alternatives">
      <LinkButton href={`/${tenant.tenantId}/account`} of="account.back" look="quiet" />
    </div>
  </PageShell>
)

type AccountItemProps = { heading: ComponentChildren; tag?: ComponentChildren; children: ComponentChildren }

/** One of the things that an account page lists, with its heading and what marks it. */
export const AccountItem = ({ heading, tag, children }: AccountItemProps): VNode => (
  <li class="message">
    <div class="row between">
      <h2>{heading}</h2>
      {tag && <span class="tag">{tag}</span>}
    </div>
    {children}
  </li>
)

/** Shown to a person who left the sign-in of the account pages. */
export const NotSignedInPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title={<Message of="account.signedOutTitle" />}
    lead={<Message of="account.signedOutLead" tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />}
    tenant={tenant}
  >
    <LinkButton href={`/${tenant.tenantId}/account`} of="action.signIn" />
  </PageShell>
)
