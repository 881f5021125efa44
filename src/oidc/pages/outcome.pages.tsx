import type { ComponentChildren, VNode } from 'preact'
import { type PagePerson, PersonLine } from '../signin/consent.pages.tsx'
import {
  Fault,
  Given,
  nameOf,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
  safeLink,
} from './page-shell.pages.tsx'

/** The one way on from a page that ends here; left out when there is none. */
function Onward({ to, children }: { to?: string | null; children: ComponentChildren }): VNode | null {
  const link = safeLink(to)
  if (!link) return null
  return (
    <a class="button primary" href={link}>
      <span>{children}</span>
    </a>
  )
}

type ErrorPageProps = {
  /** Left out when the address names no tenant. */
  tenant?: PageTenant | null
  /** Few words, without a full stop. */
  title: string
  /** Sentences that say what went wrong and what to do. */
  message: string
  /** The same for the application's makers, in the words of the protocol. */
  detail?: string | null
  requestId: string
  /** The application whose request it was, and where it starts a sign-in anew. */
  startAt?: { name: string; url: string } | null
}

/** What tells those who can help which request went wrong, and how. */
const Reference = ({ detail, requestId }: { detail?: string | null; requestId: string }): VNode => (
  <>
    <dl class="reference">
      {detail && (
        <>
          <dt>Details</dt>
          <dd>{detail}</dd>
        </>
      )}
      <dt>Request ID</dt>
      <dd>
        <code>{requestId}</code>
      </dd>
    </dl>
    <p class="hint">If you ask for help, include this.</p>
  </>
)

/** Says what went wrong where it cannot, or must not, be said to the client. */
export const ErrorPage = ({ tenant, title, message, detail, requestId, startAt }: ErrorPageProps): VNode => (
  <PageShell title={title} lead={message} tenant={tenant} outcome="bad" faulty>
    <Onward to={startAt?.url}>
      Go to <Given>{startAt?.name}</Given>
    </Onward>
    <Reference detail={detail} requestId={requestId} />
  </PageShell>
)

type SignedOutPageProps = {
  tenant: PageTenant
  client?: PageClient | null
  /** Where the application starts a sign-in; left out when it told of no such place. */
  startAt?: string | null
}

/** Says that the session has ended (OpenID Connect RP-Initiated Logout, without post_logout_redirect_uri). */
export const SignedOutPage = ({ tenant, client, startAt }: SignedOutPageProps): VNode => (
  <PageShell
    title="You are signed out"
    lead={
      <>
        Your <Given>{nameOf(tenant)}</Given> session in this browser has ended. You can close this page.
      </>
    }
    tenant={tenant}
    client={client}
    outcome="good"
  >
    <Onward to={startAt}>Sign in again</Onward>
  </PageShell>
)

/** Says that nothing happened, after a person chose to stay signed in and there is nowhere to go back to. */
export const StillSignedInPage = ({ tenant, client }: Omit<SignedOutPageProps, 'startAt'>): VNode => (
  <PageShell
    title="You are still signed in"
    lead="Nothing has changed. You can close this page."
    tenant={tenant}
    client={client}
    outcome="good"
  >
    {null}
  </PageShell>
)

type LogoutConfirmPageProps = {
  tenant: PageTenant
  interaction: PageInteraction
  client?: PageClient | null
  person?: PagePerson | null
  /** What is wrong with the application's request, which then decides no more than that it is asked. */
  fault?: { detail: string; requestId: string } | null
}

/** Asks before a session is ended that the request did not prove to know. Posts `step=logout` or `step=stay`. */
export const LogoutConfirmPage = ({
  tenant,
  interaction,
  client,
  person,
  fault,
}: LogoutConfirmPageProps): VNode => (
  <PageShell
    title="Sign out?"
    faulty={Boolean(fault)}
    lead={
      <>
        This signs you out of <Given>{nameOf(tenant)}</Given> and of the applications you opened with it in
        this browser.
      </>
    }
    tenant={tenant}
    client={client}
  >
    {fault && (
      <Fault>
        The application asked for something that cannot be done. You are still signed in. You can sign out
        here, but will not go back to the application.
      </Fault>
    )}
    {person && (
      <div class="signed-in">
        <PersonLine person={person} />
      </div>
    )}
    <StepForm interaction={interaction} class="choice">
      <button type="submit" name="step" value="logout" class="primary">
        Sign out
      </button>
      <button type="submit" name="step" value="stay" class="secondary">
        Stay signed in
      </button>
    </StepForm>
    {fault && <Reference {...fault} />}
  </PageShell>
)
