import { Fragment, type VNode } from 'preact'
import { Fault, Given, type PageClient, PageShell } from '../oidc/pages/page-shell.pages.tsx'

type DemoClientPageProps = {
  client: PageClient
  /** Where "Sign in" leads: the demo client's own start, which redirects to the authorize endpoint. */
  signInUrl: string
  inboxUrl: string
  /** Who can sign in. */
  addresses: readonly string[]
  /** What went wrong with the last sign-in. */
  fault?: string | null
  /** Present after a sign-in: claims of the ID token or of userinfo, and where "Sign out" leads. */
  signedIn?: { claims: Readonly<Record<string, unknown>>; signOutUrl: string } | null
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const Claims = ({ claims }: { claims: Readonly<Record<string, unknown>> }): VNode => (
  <dl class="claims">
    {Object.entries(claims).map(([name, value]) => (
      <Fragment key={name}>
        <dt>{name}</dt>
        <dd>
          <Given>{shown(value)}</Given>
        </dd>
      </Fragment>
    ))}
  </dl>
)

const INTRODUCTION = 'A small application to try a sign-in with. It is part of the development server.'

const Learned = ({ client }: { client: PageClient }): VNode => (
  <>
    <Given>{client.name}</Given> learned this about you:
  </>
)

/** The relying party that a development server brings along, to try a sign-in with. */
export function DemoClientPage({
  client,
  signInUrl,
  inboxUrl,
  addresses,
  fault,
  signedIn,
}: DemoClientPageProps): VNode {
  const title = signedIn ? 'You are signed in' : client.name
  return (
    <PageShell
      title={title}
      lead={signedIn ? <Learned client={client} /> : INTRODUCTION}
      client={client}
      outcome={signedIn ? 'good' : undefined}
      faulty={Boolean(fault)}
      wide={Boolean(signedIn)}
    >
      {fault && <Fault>{fault}</Fault>}
      {signedIn && <Claims claims={signedIn.claims} />}
      <div class="choice">
        {signedIn ? (
          <a class="button secondary" href={signedIn.signOutUrl}>
            Sign out
          </a>
        ) : (
          <a class="button primary" href={signInUrl}>
            Sign in
          </a>
        )}
      </div>
      {!signedIn && (
        <p class="hint">
          These people can sign in:{' '}
          {addresses.map((address, index) => (
            <Fragment key={address}>
              {index > 0 && ', '}
              <Given>{address}</Given>
            </Fragment>
          ))}
          . Nobody else is sent a code.
        </p>
      )}
      <p class="hint">
        Codes arrive in the <a href={inboxUrl}>development inbox</a>.
      </p>
    </PageShell>
  )
}
