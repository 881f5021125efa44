import type { VNode } from 'preact'
import { ENROLMENT_HINT, ENROLMENT_SCRIPT_PATH } from '../assets/enrolment-script.ts'
import { Given, nameOf, PageShell, type PageTenant } from '../oidc/pages/page-shell.pages.tsx'

type EnrolmentPageProps = {
  tenant: PageTenant
  /** What the person knows the account by. */
  label: string
  token: string
  /** Where the script goes: `/options`, `/credential` and `/done` below it. */
  path: string
}

/** Asks a person to create a passkey. The device can be asked by a script only; without one, the page says so. */
export const EnrolmentPage = ({ tenant, label, token, path }: EnrolmentPageProps): VNode => (
  <PageShell
    title="Create your passkey"
    lead={
      <>
        for <Given>{label}</Given>
      </>
    }
    tenant={tenant}
  >
    <p>
      A passkey stays on your device or in your password manager. You unlock it the way you unlock the device:
      with your fingerprint, your face, a PIN or a security key.
    </p>
    <noscript>
      <p class="fault">
        This page has to talk to your device, which needs JavaScript. Turn it on and reload the page, or open
        the link in another browser. The link still works.
      </p>
    </noscript>
    <div id="enrol-fault" role="alert" />
    {/* Hidden until the script runs: without it the button would do nothing. */}
    <div id="enrol" data-token={token} data-path={path} hidden>
      <div class="stack">
        <button type="button" id="enrol-button" class="primary">
          Create a passkey
        </button>
        <p class="hint" id="enrol-status" role="status">
          {ENROLMENT_HINT}
        </p>
      </div>
    </div>
    <script src={ENROLMENT_SCRIPT_PATH} defer />
  </PageShell>
)

/** Says that the passkey is there. */
export const EnrolledPage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell
    title="Your passkey is ready"
    lead={
      <>
        It is saved for <Given>{nameOf(tenant)}</Given>. You can close this page.
      </>
    }
    tenant={tenant}
    outcome="good"
  >
    {null}
  </PageShell>
)

/** The same whatever is wrong with a link: it must not say whether there ever was such a one. */
export const EnrolmentGonePage = ({ tenant }: { tenant: PageTenant }): VNode => (
  <PageShell title="This link does not work any more" tenant={tenant} outcome="bad" faulty>
    <p>
      It has expired, was used already, or was replaced by a newer one. If you have just created a passkey
      with it, all is well. Otherwise, ask whoever sent it to you for a new one.
    </p>
  </PageShell>
)
