import type { VNode } from 'preact'
import { BidiText, getTenantName } from '../../pages/page-shell.pages.tsx'
import { StepButton } from '../../pages/parts/controls.pages.tsx'
import { Message, Paragraph } from '../../pages/parts/words.pages.tsx'
import { type AccountPageProps, AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

type DeletionPageProps = AccountPageProps & {
  /** The days to wait; 0 when a user cannot request it. */
  days: number
  /** When a request is due; null without one. */
  dueAt: Date | null
}

const PendingDeletion = ({
  form,
  dueAt,
  timeZone,
}: Pick<DeletionPageProps, 'form' | 'timeZone'> & { dueAt: Date }) => (
  <>
    <Paragraph of="deletion.pending" time={<Moment at={dueAt} timeZone={timeZone} />} />
    <StepButton interaction={form} step="keep" class="stack" of="deletion.keep" />
  </>
)

const DeletionOffer = ({ form, days }: Pick<DeletionPageProps, 'form' | 'days'>) => (
  <>
    <Paragraph of="deletion.wait" days={days} />
    <StepButton interaction={form} step="delete" class="stack" of="deletion.request" look="secondary" />
  </>
)

/** Deletes the user's account. Posts `step=delete`, or `step=keep` after a request. */
export const DeletionPage = ({ form, days, dueAt, timeZone, ...shell }: DeletionPageProps): VNode => (
  <AccountShell
    {...shell}
    title="account.deletion"
    lead={<Message of="deletion.lead" tenant={<BidiText>{getTenantName(shell.tenant)}</BidiText>} />}
  >
    {dueAt && <PendingDeletion form={form} dueAt={dueAt} timeZone={timeZone} />}
    {!dueAt && days > 0 && <DeletionOffer form={form} days={days} />}
  </AccountShell>
)
