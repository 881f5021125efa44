import type { VNode } from 'preact'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../pages/page-shell.pages.tsx'
import { SubmitButton } from '../pages/parts/controls.pages.tsx'
import { createEndPage, createReadyPage } from '../pages/parts/outcome.pages.tsx'
import { Hint, Message } from '../pages/parts/words.pages.tsx'
import { type AccountEntries, AccountFields } from '../sign-up/account-fields.pages.tsx'

type InvitationPageProps = {
  tenant: PageTenant
  interaction: PageInteraction
  /** The invited address. */
  address: string
  /** The name of the user who invites. */
  inviterName: string | null
  /** What a new user is asked for; null when a user has the address. */
  account: AccountEntries | null
  /** An error that is of no field, as a sentence. */
  error?: string | null
}

/** Asks the person to accept. Posts `step=accept` and the fields of a new user. */
export const InvitationPage = ({
  tenant,
  interaction,
  address,
  inviterName,
  account,
  error,
}: InvitationPageProps): VNode => (
  <PageShell
    title={<Message of="invitation.title" />}
    lead={
      inviterName ? (
        <Message
          of="invitation.from"
          inviter={<BidiText>{inviterName}</BidiText>}
          address={<BidiText>{address}</BidiText>}
          tenant={<BidiText>{getTenantName(tenant)}</BidiText>}
        />
      ) : (
        <Message
          of="invitation.lead"
          address={<BidiText>{address}</BidiText>}
          tenant={<BidiText>{getTenantName(tenant)}</BidiText>}
        />
      )
    }
    tenant={tenant}
    isError={Boolean(error) || Object.keys(account?.issues ?? {}).length > 0}
  >
    {error && <ErrorMessage>{error}</ErrorMessage>}
    <StepForm interaction={interaction} step="accept" class="stack">
      {account && <AccountFields {...account} />}
      <SubmitButton of={account ? 'signUp.submit' : 'invitation.accept'} />
    </StepForm>
    <Hint of="invitation.unexpected" />
  </PageShell>
)

/** Shown when an invitation was accepted. */
export const InvitationAcceptedPage = createReadyPage('invitation.acceptedTitle', 'invitation.acceptedLead')

/** One page for every reason, so that it does not reveal whether a link ever existed. */
export const InvitationExpiredPage = createEndPage('bad', {
  title: 'invitation.expiredTitle',
  text: 'invitation.expiredText',
})
