import type { ComponentChildren, VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../../pages/page-shell.pages.tsx'
import {
  AccountAction,
  AccountLine,
  AccountList,
  type ShownAccount,
} from '../../pages/parts/account-list.pages.tsx'
import { ContinueLink } from '../../pages/parts/continue-links.pages.tsx'
import { StepButton, SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { type ErrorPageProps, ErrorReference } from '../../pages/parts/outcome.pages.tsx'
import { type PagePerson, PersonLine } from '../../pages/parts/person.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'

/** A question about the sign-out. */
type LogoutQuestion = {
  tenant: PageTenant
  client?: PageClient | null
  /** The error of an invalid request, from which nothing else is used. */
  error?: Pick<ErrorPageProps, 'detail' | 'facts' | 'requestId'> | null
}

type LogoutFrameProps = LogoutQuestion & {
  title: 'logout.title' | 'logout.whichTitle'
  lead: 'logout.lead' | 'logout.whichLead'
  children: ComponentChildren
}

/** The frame of a question about the sign-out. It says when the request was invalid. */
const LogoutFrame = ({ tenant, client, error, title, lead, children }: LogoutFrameProps): VNode => (
  <PageShell
    title={<Message of={title} />}
    isError={Boolean(error)}
    lead={<Message of={lead} tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />}
    tenant={tenant}
    client={client}
  >
    {error && (
      <ErrorMessage>
        <Message of="logout.error" />
      </ErrorMessage>
    )}
    {children}
    {error && <ErrorReference {...error} />}
  </PageShell>
)

type LogoutConfirmPageProps = LogoutQuestion & {
  interaction: PageInteraction
  person?: PagePerson | null
  /** The id of the session to end. */
  account: string
}

/**
 * Asks for confirmation when the request does not prove to know the session. Posts `account` with `step=logout` or
 * `step=stay`.
 */
export const LogoutConfirmPage = ({
  interaction,
  person,
  account,
  ...question
}: LogoutConfirmPageProps): VNode => (
  <LogoutFrame {...question} title="logout.title" lead="logout.lead">
    {person && (
      <div class="signed-in">
        <PersonLine person={person} />
      </div>
    )}
    <StepForm interaction={interaction} class="choice">
      <input type="hidden" name="account" value={account} />
      <SubmitButton name="step" value="logout" of="action.signOut" />
      <SubmitButton name="step" value="stay" of="logout.stay" look="secondary" />
    </StepForm>
  </LogoutFrame>
)

type LogoutChoicePageProps = LogoutQuestion & {
  interaction: PageInteraction
  accounts: readonly ShownAccount[]
}

type SignOutRowProps = { account: ShownAccount; interaction: PageInteraction }

const SignOutRow = ({ account, interaction }: SignOutRowProps): VNode => (
  <li>
    <span class="account">
      <AccountLine account={account} />
    </span>
    <AccountAction {...{ account, interaction }} step="logout" label="logout.name">
      <Message of="action.signOut" />
    </AccountAction>
  </li>
)

/**
 * Asks which of the signed-in accounts to sign out. Posts `step=logout` with `account`, which is the id of a session or
 * `all`, or `step=stay`.
 */
export const LogoutChoicePage = ({
  tenant,
  interaction,
  client,
  accounts,
  error,
}: LogoutChoicePageProps): VNode => (
  <LogoutFrame {...{ tenant, client, error }} title="logout.whichTitle" lead="logout.whichLead">
    <AccountList>
      {accounts.map((account) => (
        <SignOutRow key={account.id} account={account} interaction={interaction} />
      ))}
    </AccountList>
    <div class="choice">
      <StepForm interaction={interaction} step="logout" class="choice">
        <SubmitButton name="account" value="all" of="logout.all" />
      </StepForm>
      <StepButton interaction={interaction} step="stay" class="choice" of="logout.stay" look="secondary" />
    </div>
  </LogoutFrame>
)

type UpstreamLogoutPageProps = {
  tenant: PageTenant
  client: PageClient | null
  /** The name of the provider. */
  name: string
  /** The logout at the provider. */
  url: string
}

/** Shown until the browser has opened the logout at the provider; its response has the header Refresh. */
export const UpstreamLogoutPage = ({ tenant, client, name, url }: UpstreamLogoutPageProps): VNode => (
  <PageShell
    title={<Message of="logout.upstreamTitle" name={name} />}
    heading={<Message of="logout.upstreamTitle" name={<BidiText>{name}</BidiText>} />}
    lead={<Message of="logout.upstreamLead" />}
    tenant={tenant}
    client={client ?? undefined}
  >
    <ContinueLink to={url}>
      <Message of="action.continue" />
    </ContinueLink>
  </PageShell>
)
