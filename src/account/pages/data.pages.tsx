import type { VNode } from 'preact'
import { StepButton } from '../../pages/parts/controls.pages.tsx'
import { Hint, Message } from '../../pages/parts/words.pages.tsx'
import { type AccountPageProps, AccountShell } from './account-shell.pages.tsx'

/** Offers what is stored about the user. Posts `step=download`. */
export const DataPage = ({ form, ...shell }: AccountPageProps): VNode => (
  <AccountShell {...shell} title="account.data" lead={<Message of="data.lead" />}>
    <StepButton interaction={form} step="download" class="stack" of="data.download" />
    <Hint of="data.hint" />
  </AccountShell>
)
