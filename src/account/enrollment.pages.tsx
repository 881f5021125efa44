import type { VNode } from 'preact'
import { ENROLLMENT_HINT, ENROLLMENT_SCRIPT_PATH } from '../pages/assets/enrollment-script.ts'
import { ContinueLink } from '../pages/outcome.pages.tsx'
import {
  BidiText,
  getTenantName,
  type PageClient,
  type PageInteraction,
  PageShell,
  type PageTenant,
  StepForm,
} from '../pages/page-shell.pages.tsx'

const TIME = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

type EnrollmentPageProps = {
  tenant: PageTenant
  /** The address or name of the account. */
  label: string
  token: string
  /** The base path of the script's requests: `/options`, `/credential` and `/done`. */
  path: string
  /** Where a person who has accepted an invitation goes without a passkey, and the query of the last page. */
  onward?: { skipTo: string; query: string } | null
}

/** Asks the user to create a passkey, which needs a script. */
export const EnrollmentPage = ({ tenant, label, token, path, onward }: EnrollmentPageProps): VNode => (
  <PageShell
    title="Create your passkey"
    lead={
      <>
        for <BidiText>{label}</BidiText>
      </>
    }
    tenant={tenant}
  >
    <p>
      A passkey stays on your device or in your password manager. You unlock it the way you unlock the device:
      with your fingerprint, your face, a PIN or a security key.
    </p>
    <noscript>
      <p class="error">
        This page has to talk to your device, which needs JavaScript. Turn it on and reload the page, or open
        the link in another browser. The link still works.
      </p>
    </noscript>
    <div id="enrollment-error" role="alert" />
    {/* Hidden until the script runs, because the button needs it. */}
    <div id="enrollment" data-token={token} data-path={path} data-query={onward?.query} hidden>
      <div class="stack">
        <button type="button" id="enrollment-button" class="primary">
          Create a passkey
        </button>
        <p class="hint" id="enrollment-status" role="status">
          {ENROLLMENT_HINT}
        </p>
      </div>
    </div>
    {onward && (
      <div class="alternatives">
        <a class="button quiet" href={onward.skipTo}>
          Not now
        </a>
      </div>
    )}
    <script src={ENROLLMENT_SCRIPT_PATH} defer />
  </PageShell>
)

/** Shown when the passkey has been created. */
export const EnrolledPage = ({
  tenant,
  client,
  startAt,
  accountPath,
}: {
  tenant: PageTenant
  /** The account page that led here. */
  accountPath?: string | null
  /** The client that the person continues to, and the URL where it starts a sign-in. */
  client?: PageClient | null
  startAt?: string | null
}): VNode => (
  <PageShell
    title="Your passkey is ready"
    lead={
      <>
        It is saved for <BidiText>{getTenantName(tenant)}</BidiText>. You can close this page.
      </>
    }
    tenant={tenant}
    outcome="good"
  >
    <ContinueLink to={startAt}>
      Continue to <BidiText>{client?.name}</BidiText>
    </ContinueLink>
    <ContinueLink to={accountPath}>Back to your account</ContinueLink>
  </PageShell>
)

/** The same for every reason, so that it does not reveal whether a link ever existed. */
export const EnrollmentExpiredPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell title="This link no longer works" tenant={tenant} outcome="bad" isError>
    <p>
      It has expired, was used already, or was replaced by a newer one. If you have just created a passkey
      with it, all is well. Otherwise, ask the person who sent it to you for a new one.
    </p>
  </PageShell>
)

/** Shown before a link works. */
export const EnrollmentWaitingPage = ({
  tenant,
  usableAt,
}: {
  tenant: PageTenant
  usableAt: Date
}): VNode => (
  <PageShell title="This link does not work yet" tenant={tenant}>
    <p>
      To protect your account, it works from{' '}
      <time dateTime={usableAt.toISOString()}>{TIME.format(usableAt)}</time> (UTC). Open it again then.
    </p>
  </PageShell>
)

/** Asks whether to cancel the link of an administrator. Posts to `action`. */
export const CancelEnrollmentPage = ({
  tenant,
  interaction,
}: {
  tenant: PageTenant
  interaction: PageInteraction
}): VNode => (
  <PageShell
    title="Cancel the link?"
    lead="An administrator made a link that creates a new passkey for your account."
    tenant={tenant}
  >
    <p>If you did not ask for it, cancel it. Nobody can use it then.</p>
    <StepForm interaction={interaction} step="cancel-link" class="stack">
      <button type="submit" class="primary">
        Cancel the link
      </button>
    </StepForm>
  </PageShell>
)

/** Shown when the link was canceled. */
export const EnrollmentCanceledPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell title="The link is canceled" tenant={tenant} outcome="good">
    <p>Nobody can use it any more. Tell your administrator that you did not ask for it.</p>
  </PageShell>
)
