import type { VNode } from 'preact'
import { BidiText, type PageInteraction, StepForm } from '../../pages/page-shell.pages.tsx'
import {
  AccountAction,
  AccountLine,
  AccountList,
  type ShownAccount,
} from '../../pages/parts/account-list.pages.tsx'
import { StepButton } from '../../pages/parts/controls.pages.tsx'
import { Hint, Message } from '../../pages/parts/words.pages.tsx'
import { StepPage, type StepPageProps } from './step/step-page.pages.tsx'

type AccountChoiceProps = { account: ShownAccount; interaction: PageInteraction }

/** An account to continue with, and the way to remove it from the browser. */
const AccountChoice = ({ account, interaction }: AccountChoiceProps): VNode => (
  <li>
    <StepForm interaction={interaction} step="continue">
      <button type="submit" name="account" value={account.id} class="account">
        <AccountLine account={account} />
      </button>
    </StepForm>
    <AccountAction {...{ account, interaction }} step="remove" label="select.removeName">
      <Message of="select.remove" />
    </AccountAction>
  </li>
)

/**
 * Asks which account of the browser to continue with. Posts `step=continue` or `step=remove` with `account`,
 * `step=switch` or `step=cancel`.
 */
export const SelectAccountPage = ({
  accounts,
  ...page
}: StepPageProps & { accounts: readonly ShownAccount[] }): VNode => (
  <StepPage
    {...page}
    title={<Message of="select.title" />}
    lead={<Message of="signIn.toContinueTo" client={<BidiText>{page.client.name}</BidiText>} />}
    alternatives={null}
  >
    <AccountList>
      {accounts.map((account) => (
        <AccountChoice key={account.id} account={account} interaction={page.interaction} />
      ))}
    </AccountList>
    <StepButton
      interaction={page.interaction}
      step="switch"
      class="choice"
      of="select.other"
      look="secondary"
    />
    <Hint of="select.removeHint" />
  </StepPage>
)
