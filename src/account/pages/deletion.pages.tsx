import type { VNode } from 'preact'
import {
  BidiText,
  getTenantName,
  type PageInteraction,
  type PageTenant,
  StepForm,
} from '../../pages/page-shell.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'
import type { Notice } from './notices.ts'

type DeletionPageProps = {
  tenant: PageTenant
  form: PageInteraction
  /** The days to wait; 0 when a user cannot request it. */
  days: number
  /** When a request is due; null without one. */
  dueAt: Date | null
  timeZone: string | null
  notice?: Notice | null
}

const PendingDeletion = ({
  form,
  dueAt,
  timeZone,
}: Pick<DeletionPageProps, 'form' | 'timeZone'> & { dueAt: Date }) => (
  <>
    <p>
      <Message of="deletion.pending" time={<Moment at={dueAt} timeZone={timeZone} />} />
    </p>
    <StepForm interaction={form} step="keep" class="stack">
      <button type="submit" class="primary">
        <Message of="deletion.keep" />
      </button>
    </StepForm>
  </>
)

const DeletionOffer = ({ form, days }: Pick<DeletionPageProps, 'form' | 'days'>) => (
  <>
    <p>
      <Message of="deletion.wait" days={days} />
    </p>
    <StepForm interaction={form} step="delete" class="stack">
      <button type="submit" class="secondary">
        <Message of="deletion.request" />
      </button>
    </StepForm>
  </>
)

/** Deletes the user's account. Posts `step=delete`, or `step=keep` after a request. */
export const DeletionPage = ({ tenant, form, days, dueAt, timeZone, notice }: DeletionPageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title={<Message of="account.deletion" />}
    lead={<Message of="deletion.lead" tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />}
    notice={notice}
  >
    {dueAt && <PendingDeletion form={form} dueAt={dueAt} timeZone={timeZone} />}
    {!dueAt && days > 0 && <DeletionOffer form={form} days={days} />}
  </AccountShell>
)
