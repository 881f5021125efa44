import type { ComponentChildren, VNode } from 'preact'
import { toSafeLink } from '../core/safe-link.ts'
import type { ErrorFact } from './error-facts.ts'
import {
  BidiText,
  ErrorMessage,
  getTenantName,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from './page-shell.pages.tsx'
import { type PagePerson, PersonLine } from './person.pages.tsx'
import { Message } from './words.pages.tsx'

/** The link to continue after a final page; omitted without a safe URL. */
export function ContinueLink({
  to,
  children,
}: {
  to?: string | null
  children: ComponentChildren
}): VNode | null {
  const link = toSafeLink(to)
  if (!link) return null
  return (
    <a class="button primary" href={link}>
      <span>{children}</span>
    </a>
  )
}

type ErrorPageProps = {
  /** Null when the URL names no tenant. */
  tenant?: PageTenant | null
  /** A short phrase without a period. */
  title: VNode | string
  /** What went wrong and what to do, in sentences. */
  message: ComponentChildren
  /** The error in protocol terms, for developers of the application. */
  detail?: string | null
  /** What was given and expected, in development only. */
  facts?: readonly ErrorFact[]
  requestId: string
  /** The application that sent the request, with the URL where it starts a new sign-in. */
  startAt?: { name: string; url: string } | null
}

/** What support needs to find the request. */
const ErrorReference = ({
  detail,
  facts = [],
  requestId,
}: Pick<ErrorPageProps, 'detail' | 'facts' | 'requestId'>): VNode => (
  <>
    <dl class="reference">
      {detail && (
        <>
          <dt>
            <Message of="error.details" />
          </dt>
          <dd>{detail}</dd>
        </>
      )}
      {facts.map(([name, value]) => (
        <>
          <dt>
            <BidiText>{name}</BidiText>
          </dt>
          <dd>
            <BidiText>{value}</BidiText>
          </dd>
        </>
      ))}
      <dt>
        <Message of="error.requestId" />
      </dt>
      <dd>
        <code>{requestId}</code>
      </dd>
    </dl>
    <p class="hint">
      <Message of="error.include" />
    </p>
  </>
)

/** Shows an error that cannot, or must not, be sent to the client. */
export const ErrorPage = ({ tenant, title, message, startAt, ...reference }: ErrorPageProps): VNode => (
  <PageShell title={title} lead={message} tenant={tenant} outcome="bad" isError>
    <ContinueLink to={startAt?.url}>
      <Message of="action.goTo" name={<BidiText>{startAt?.name}</BidiText>} />
    </ContinueLink>
    <ErrorReference {...reference} />
  </PageShell>
)

type SignedOutPageProps = {
  tenant: PageTenant
  client?: PageClient | null
  /** The URL where the application starts a sign-in, if it has one. */
  startAt?: string | null
  /** Other accounts of the browser stay signed in. */
  hasOthers?: boolean
}

/**
 * Shown when the session has ended and the request has no post_logout_redirect_uri (RP-Initiated Logout 1.0,
 * section 2).
 */
export const SignedOutPage = ({ tenant, client, startAt, hasOthers }: SignedOutPageProps): VNode => (
  <PageShell
    title={<Message of="signedOut.title" />}
    lead={
      hasOthers ? (
        <Message of="signedOut.others" />
      ) : (
        <Message of="signedOut.lead" tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />
      )
    }
    tenant={tenant}
    client={client}
    outcome="good"
  >
    <ContinueLink to={startAt}>
      <Message of="signedOut.again" />
    </ContinueLink>
  </PageShell>
)

/** Shown to a signed-in person who returns to the pages of a sign-in that is finished. */
export const FinishedSignInPage = ({ tenant, person }: { tenant: PageTenant; person: PagePerson }): VNode => (
  <PageShell
    title={<Message of="finished.title" />}
    lead={<Message of="finished.lead" />}
    tenant={tenant}
    outcome="good"
  >
    <div class="signed-in">
      <PersonLine person={person} />
    </div>
  </PageShell>
)

/** Shown after a person chose to stay signed in. */
export const StillSignedInPage = ({ tenant, client, startAt }: SignedOutPageProps): VNode => (
  <PageShell
    title={<Message of="logout.stayedTitle" />}
    lead={<Message of="logout.stayedLead" />}
    tenant={tenant}
    client={client}
    outcome="neutral"
  >
    <ContinueLink to={startAt}>
      <Message of="action.goTo" name={<BidiText>{client?.name}</BidiText>} />
    </ContinueLink>
  </PageShell>
)

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
      <button type="submit" name="step" value="logout" class="primary">
        <Message of="action.signOut" />
      </button>
      <button type="submit" name="step" value="stay" class="secondary">
        <Message of="logout.stay" />
      </button>
    </StepForm>
  </LogoutFrame>
)
