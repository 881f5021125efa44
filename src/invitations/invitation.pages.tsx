import type { VNode } from 'preact'
import { ContinueLink } from '../pages/outcome.pages.tsx'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../pages/page-shell.pages.tsx'
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
    title="You are invited"
    lead={
      <>
        {inviterName && (
          <>
            <BidiText>{inviterName}</BidiText> invites{' '}
          </>
        )}
        <BidiText>{address}</BidiText> {inviterName ? 'to' : 'is invited to'}{' '}
        <BidiText>{getTenantName(tenant)}</BidiText>.
      </>
    }
    tenant={tenant}
    isError={Boolean(error) || Object.keys(account?.issues ?? {}).length > 0}
  >
    {error && <ErrorMessage>{error}</ErrorMessage>}
    <StepForm interaction={interaction} step="accept" class="stack">
      {account && <AccountFields {...account} />}
      <button type="submit" class="primary">
        {account ? 'Create account' : 'Accept'}
      </button>
    </StepForm>
    <p class="hint">If you did not expect this, close the page. Nothing has changed.</p>
  </PageShell>
)

type AcceptedPageProps = {
  tenant: PageTenant
  /** The client that the person continues to, and the URL where it starts a sign-in. */
  client?: PageClient | null
  startAt?: string | null
}

/** Shown when an invitation was accepted. */
export const InvitationAcceptedPage = ({ tenant, client, startAt }: AcceptedPageProps): VNode => (
  <PageShell
    title="You have accepted"
    lead={
      <>
        You can sign in to <BidiText>{getTenantName(tenant)}</BidiText> now.
      </>
    }
    tenant={tenant}
    outcome="good"
  >
    <ContinueLink to={startAt}>
      Continue to <BidiText>{client?.name}</BidiText>
    </ContinueLink>
  </PageShell>
)

/** The same for every reason, so that it does not reveal whether a link ever existed. */
export const InvitationExpiredPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell title="This invitation no longer works" tenant={tenant} outcome="bad" isError>
    <p>
      It has expired, was accepted already, or was replaced by a newer one. If you have just accepted it, all
      is well: sign in as always. Otherwise, ask the person who invited you for a new one.
    </p>
  </PageShell>
)
