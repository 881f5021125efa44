import type { VNode } from 'preact'
import { type PageInteraction, StepForm } from '../../pages/page-shell.pages.tsx'
import {
  AccountAction,
  AccountLine,
  AccountList,
  type ShownAccount,
} from '../../pages/parts/account-list.pages.tsx'
import { StepButton, SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'
import { LogoutFrame, type LogoutQuestion } from './logout-question.pages.tsx'

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
