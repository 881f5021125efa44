import type { VNode } from 'preact'
import {
  AccountLine,
  AccountList,
  getAccountLabel,
  type ShownAccount,
} from '../../pages/account-list.pages.tsx'
import { ErrorReference } from '../../pages/outcome.pages.tsx'
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
import { Message, useWords } from '../../pages/words.pages.tsx'

type LogoutChoicePageProps = {
  tenant: PageTenant
  interaction: PageInteraction
  client?: PageClient | null
  accounts: readonly ShownAccount[]
  /** The error of an invalid request, from which nothing else is used. */
  error?: { detail: string; requestId: string } | null
}

function SignOutRow({
  account,
  interaction,
}: {
  account: ShownAccount
  interaction: PageInteraction
}): VNode {
  const words = useWords()
  return (
    <li>
      <span class="account">
        <AccountLine account={account} />
      </span>
      <StepForm interaction={interaction} step="logout">
        <button
          type="submit"
          name="account"
          value={account.id}
          class="quiet"
          aria-label={words.text('logout.name', { name: getAccountLabel(account) })}
        >
          <Message of="action.signOut" />
        </button>
      </StepForm>
    </li>
  )
}

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
  <PageShell
    title={<Message of="logout.whichTitle" />}
    isError={Boolean(error)}
    lead={<Message of="logout.whichLead" tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />}
    tenant={tenant}
    client={client}
  >
    {error && (
      <ErrorMessage>
        <Message of="logout.error" />
      </ErrorMessage>
    )}
    <AccountList>
      {accounts.map((account) => (
        <SignOutRow key={account.id} account={account} interaction={interaction} />
      ))}
    </AccountList>
    <div class="choice">
      <StepForm interaction={interaction} step="logout" class="choice">
        <button type="submit" name="account" value="all" class="primary">
          <Message of="logout.all" />
        </button>
      </StepForm>
      <StepForm interaction={interaction} step="stay" class="choice">
        <button type="submit" class="secondary">
          <Message of="logout.stay" />
        </button>
      </StepForm>
    </div>
    {error && <ErrorReference {...error} />}
  </PageShell>
)
