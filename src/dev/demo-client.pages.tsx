import { Fragment, type VNode } from 'preact'
import { BidiText, ErrorMessage, type PageClient, PageShell } from '../pages/page-shell.pages.tsx'

type DemoClientPageProps = {
  client: PageClient
  /** Target of "Sign in": the start of the demo client, which redirects to the authorize endpoint. */
  signInUrl: string
  inboxUrl: string
  /** Addresses that can sign in. */
  addresses: readonly string[]
  /** Error of the last sign-in. */
  error?: string | null
  /** After a sign-in: claims of the ID token or of userinfo, and the target of "Sign out". */
  signedIn?: { claims: Readonly<Record<string, unknown>>; signOutUrl: string } | null
}

const formatClaim = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const Claims = ({ claims }: { claims: Readonly<Record<string, unknown>> }): VNode => (
  <dl class="claims">
    {Object.entries(claims).map(([name, value]) => (
      <Fragment key={name}>
        <dt>{name}</dt>
        <dd>
          <BidiText>{formatClaim(value)}</BidiText>
        </dd>
      </Fragment>
    ))}
  </dl>
)

const INTRO = 'A small application to try a sign-in with. It is part of the development server.'

const ClaimsIntro = ({ client }: { client: PageClient }): VNode => (
  <>
    <BidiText>{client.name}</BidiText> learned this about you:
  </>
)

/** The page of the demo relying party. */
export function DemoClientPage({
  client,
  signInUrl,
  inboxUrl,
  addresses,
  error,
  signedIn,
}: DemoClientPageProps): VNode {
  const title = signedIn ? 'You are signed in' : client.name
  return (
    <PageShell
      title={title}
      lead={signedIn ? <ClaimsIntro client={client} /> : INTRO}
      client={client}
      outcome={signedIn ? 'good' : undefined}
      isError={Boolean(error)}
      wide={Boolean(signedIn)}
    >
      {error && <ErrorMessage>{error}</ErrorMessage>}
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
          These users can sign in:{' '}
          {addresses.map((address, index) => (
            <Fragment key={address}>
              {index > 0 && ', '}
              <BidiText>{address}</BidiText>
            </Fragment>
          ))}
          . Codes are sent only to them.
        </p>
      )}
      <p class="hint">
        Codes arrive in the <a href={inboxUrl}>development inbox</a>.
      </p>
    </PageShell>
  )
}
