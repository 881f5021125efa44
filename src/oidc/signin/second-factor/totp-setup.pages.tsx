import type { VNode } from 'preact'
import { RecoveryCodeList } from '../../../credentials/second-factors/recovery-code-list.pages.tsx'
import type { TotpEnrollment } from '../../../credentials/second-factors/totp-enrollment.ts'
import { TotpKey } from '../../../credentials/second-factors/totp-key.pages.tsx'
import { CodeForm } from '../../../pages/parts/code-form.pages.tsx'
import { StepButton } from '../../../pages/parts/controls.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
import { RestartForm } from '../step/restart.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type TotpSetupPageProps = StepPageProps & {
  enrollment: TotpEnrollment
  /** The URL of the page for a passkey; null where passkeys are not accepted. */
  passkeyPath: string | null
}

/**
 * Lets a user set up an authenticator app, which the sign-in requires. Posts `step=totp` and `code`, `step=restart`
 * or `step=cancel`.
 */
export const TotpSetupPage = ({ enrollment, passkeyPath, ...page }: TotpSetupPageProps): VNode => (
  <StepPage
    {...page}
    title={<Message of="setup.totpTitle" />}
    lead={<Message of="setup.totpLead" />}
    alternatives={
      <>
        {passkeyPath && (
          <a href={passkeyPath}>
            <Message of="setup.passkeyInstead" />
          </a>
        )}
        <RestartForm interaction={page.interaction} />
      </>
    }
  >
    <TotpKey enrollment={enrollment} />
    <CodeForm
      interaction={page.interaction}
      step="totp"
      label={<Message of="setup.totpLabel" digits={6} />}
      digits={6}
      error={page.error}
      autofocus={false}
    />
  </StepPage>
)

/** Shows new recovery codes. Posts `step=codes-saved`. */
export const RecoveryCodesPage = ({ codes, ...page }: StepPageProps & { codes: string[] }): VNode => (
  <StepPage {...page} title={<Message of="setup.codesTitle" />} lead={<Message of="setup.codesLead" />}>
    <RecoveryCodeList codes={codes} />
    <StepButton interaction={page.interaction} step="codes-saved" class="stack" of="setup.codesSaved" />
  </StepPage>
)
