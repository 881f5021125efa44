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
import { SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { type ErrorPageProps, ErrorReference } from '../../pages/parts/outcome.pages.tsx'
import { type PagePerson, PersonLine } from '../../pages/parts/person.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'

/** A question about the sign-out. */
export type LogoutQuestion = {
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
export const LogoutFrame = ({ tenant, client, error, title, lead, children }: LogoutFrameProps): VNode => (
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
