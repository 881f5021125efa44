import type { ComponentChildren, VNode } from 'preact'
import type { PlainMessageKey } from '../../languages/messages.ts'
import type { ErrorFact } from '../error-facts.ts'
import { BidiText, getTenantName, type PageClient, PageShell, type PageTenant } from '../page-shell.pages.tsx'
import { AccountLink, WayOn } from './continue-links.pages.tsx'
import { Fact } from './controls.pages.tsx'
import type { Outcome } from './logos.pages.tsx'
import { type PagePerson, PersonLine } from './person.pages.tsx'
import { Hint, Message, Paragraph } from './words.pages.tsx'

export type ErrorPageProps = {
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
export const ErrorReference = ({
  detail,
  facts = [],
  requestId,
}: Pick<ErrorPageProps, 'detail' | 'facts' | 'requestId'>): VNode => (
  <>
    <dl class="reference">
      {detail && <Fact of="error.details">{detail}</Fact>}
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
      <Fact of="error.requestId">
        <code>{requestId}</code>
      </Fact>
    </dl>
    <Hint of="error.include" />
  </>
)

/** Shows an error that cannot, or must not, be sent to the client. */
export const ErrorPage = ({ tenant, title, message, startAt, ...reference }: ErrorPageProps): VNode => (
  <PageShell title={title} lead={message} tenant={tenant} outcome="bad" isError>
    {tenant && (
      <WayOn to={startAt?.url} tenant={tenant}>
        <Message of="action.goTo" name={<BidiText>{startAt?.name}</BidiText>} />
      </WayOn>
    )}
    <ErrorReference {...reference} />
  </PageShell>
)

/** What a person sees who opens the address of the server. */
export const HomePage = (): VNode => (
  <PageShell title={<Message of="signIn.title" />}>
    <Paragraph of="signIn.atApplication" />
  </PageShell>
)

type EndWords = { title: PlainMessageKey; lead?: PlainMessageKey; text?: PlainMessageKey }

/** A last page that leads to the account pages, because there is no application to go on to. */
export const createEndPage =
  (outcome: Outcome, { title, lead, text }: EndWords) =>
  ({ tenant }: { tenant: PageTenant }): VNode => (
    <PageShell
      title={<Message of={title} />}
      lead={lead && <Message of={lead} />}
      tenant={tenant}
      outcome={outcome}
      isError={outcome === 'bad'}
    >
      {text && <Paragraph of={text} />}
      <AccountLink tenant={tenant} />
    </PageShell>
  )

type ReadyPageProps = {
  tenant: PageTenant
  /** The client that the person continues to, and the URL where it starts a sign-in. */
  client?: PageClient | null
  startAt?: string | null
}

/** A last page that leads to the application that the person came for. */
export const createReadyPage =
  (title: PlainMessageKey, lead: 'enroll.readyLead' | 'invitation.acceptedLead') =>
  ({ tenant, client, startAt }: ReadyPageProps): VNode => (
    <PageShell
      title={<Message of={title} />}
      lead={<Message of={lead} tenant={<BidiText>{getTenantName(tenant)}</BidiText>} />}
      tenant={tenant}
      outcome="good"
    >
      <WayOn to={startAt} tenant={tenant}>
        <Message of="action.continueTo" name={<BidiText>{client?.name}</BidiText>} />
      </WayOn>
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
    <WayOn to={startAt} tenant={tenant}>
      <Message of="signedOut.again" />
    </WayOn>
  </PageShell>
)

type FinishedSignInPageProps = Pick<ErrorPageProps, 'startAt'> & { tenant: PageTenant; person: PagePerson }

/** Shown to a signed-in person who returns to a sign-in that is finished, or sends one of its forms again. */
export const FinishedSignInPage = ({ tenant, person, startAt }: FinishedSignInPageProps): VNode => (
  <PageShell
    title={<Message of="finished.title" />}
    lead={<Message of="finished.lead" />}
    tenant={tenant}
    outcome="good"
  >
    <div class="signed-in">
      <PersonLine person={person} />
    </div>
    <WayOn to={startAt?.url} tenant={tenant}>
      <Message of="action.goTo" name={<BidiText>{startAt?.name}</BidiText>} />
    </WayOn>
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
    <WayOn to={startAt} tenant={tenant}>
      <Message of="action.goTo" name={<BidiText>{client?.name}</BidiText>} />
    </WayOn>
  </PageShell>
)
