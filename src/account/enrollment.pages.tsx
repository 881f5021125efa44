import type { ComponentChildren, VNode } from 'preact'
import { ENROLLMENT_SCRIPT_PATH } from '../pages/assets/enrollment-script.ts'
import { BidiText, type PageInteraction, PageShell, type PageTenant } from '../pages/page-shell.pages.tsx'
import { AccountLink } from '../pages/parts/continue-links.pages.tsx'
import { LinkButton, StepButton } from '../pages/parts/controls.pages.tsx'
import { createEndPage, createReadyPage } from '../pages/parts/outcome.pages.tsx'
import { ScriptedPart, WithoutScript } from '../pages/parts/scripted-part.pages.tsx'
import { Message, Paragraph, useWords } from '../pages/parts/words.pages.tsx'
import { Moment } from './pages/moment.pages.tsx'

/** The part that the script shows, with the parameters of the script and what it says. */
function EnrollmentArea(area: {
  token: string
  path: string
  query?: string
  children: ComponentChildren
}): VNode {
  const { text } = useWords()
  const messages = {
    busy: text('script.follow'),
    idle: text('enroll.once'),
    offline: text('script.offline'),
    unsupported: text('script.noPasskeys'),
    NotAllowedError: text('script.enrollCanceled'),
    InvalidStateError: text('script.enrollKnown'),
    NotSupportedError: text('script.enrollUnsupported'),
    SecurityError: text('script.enrollInsecure'),
    ConstraintError: text('script.enrollUnlocked'),
    other: text('script.failed'),
  }
  return (
    <ScriptedPart
      id="enrollment"
      data-token={area.token}
      data-path={area.path}
      data-query={area.query}
      data-messages={JSON.stringify(messages)}
    >
      {area.children}
    </ScriptedPart>
  )
}

type WaitingPageProps = { tenant: PageTenant; usableAt: Date }

/** Shown before a link works. */
export const EnrollmentWaitingPage = ({ tenant, usableAt }: WaitingPageProps): VNode => (
  <PageShell title={<Message of="enroll.waitingTitle" />} tenant={tenant} outcome="neutral">
    <Paragraph of="enroll.waitingText" time={<Moment at={usableAt} timeZone={null} style="long" />} />
    <AccountLink tenant={tenant} />
  </PageShell>
)

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
    title={<Message of="enroll.title" />}
    lead={<Message of="enroll.lead" label={<BidiText>{label}</BidiText>} />}
    tenant={tenant}
  >
    <Paragraph of="enroll.text" />
    <WithoutScript>
      <p class="error">
        <Message of="enroll.script" />
      </p>
    </WithoutScript>
    <div id="enrollment-error" role="alert" />
    {/* Hidden until the script runs, because the button needs it. */}
    <EnrollmentArea token={token} path={path} query={onward?.query}>
      <div class="stack">
        <button type="button" id="enrollment-button" class="primary">
          <Message of="passkey.create" />
        </button>
        <p class="hint" id="enrollment-status" role="status">
          <Message of="enroll.once" />
        </p>
      </div>
    </EnrollmentArea>
    {onward && (
      <div class="alternatives">
        <LinkButton href={onward.skipTo} of="action.notNow" look="quiet" />
      </div>
    )}
    <script src={ENROLLMENT_SCRIPT_PATH} defer />
  </PageShell>
)

/** Shown when the passkey has been created. */
export const EnrolledPage = createReadyPage('enroll.readyTitle', 'enroll.readyLead')

/** One page for every reason, so that it does not reveal whether a link ever existed. */
export const EnrollmentExpiredPage = createEndPage('bad', {
  title: 'enroll.expiredTitle',
  text: 'enroll.expiredText',
})

type CancelPageProps = { tenant: PageTenant; interaction: PageInteraction }

/** Asks whether to cancel the link of an administrator. Posts to `action`. */
export const CancelEnrollmentPage = ({ tenant, interaction }: CancelPageProps): VNode => (
  <PageShell
    title={<Message of="enroll.cancelTitle" />}
    lead={<Message of="enroll.cancelLead" />}
    tenant={tenant}
  >
    <Paragraph of="enroll.cancelText" />
    <StepButton interaction={interaction} step="cancel-link" class="stack" of="enroll.cancel" />
  </PageShell>
)

/** Shown when the link was canceled. */
export const EnrollmentCanceledPage = createEndPage('good', {
  title: 'enroll.canceledTitle',
  text: 'enroll.canceledText',
})
