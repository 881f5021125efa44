import type { VNode } from 'preact'
import { RecoveryCodeList } from '../../../credentials/second-factors/recovery-code-list.pages.tsx'
import type { TotpEnrollment } from '../../../credentials/second-factors/totp-enrollment.ts'
import { TotpKey } from '../../../credentials/second-factors/totp-key.pages.tsx'
import { BidiText, ErrorMessage } from '../../../pages/page-shell.pages.tsx'
import { CodeForm } from '../../../pages/parts/code-form.pages.tsx'
import { StepButton } from '../../../pages/parts/controls.pages.tsx'
import type { PagePart } from '../../../pages/parts/page-part.pages.tsx'
import { Message, Paragraph } from '../../../pages/parts/words.pages.tsx'
import { PasskeyCreation } from '../passkey/passkey-creation.pages.tsx'
import { RestartForm, StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type SecondFactorPageProps = StepPageProps & {
  /** The address or name of the account. */
  label: string
  /** The URL of the page for the other second factor. */
  otherPath: string
}

/** The texts of each second factor, and the digits of its codes. */
const KINDS = {
  totp: {
    title: <Message of="factor.totpTitle" />,
    label: <Message of="code.label" digits={6} />,
    hint: <Message of="factor.totpHint" seconds={30} />,
    other: <Message of="factor.useRecovery" />,
    digits: 6,
  },
  recovery: {
    title: <Message of="factor.recoveryTitle" />,
    label: <Message of="factor.recoveryLabel" />,
    hint: <Message of="factor.recoveryHint" />,
    other: <Message of="factor.useTotp" />,
    digits: undefined,
  },
}

const createSecondFactorPage =
  (kind: keyof typeof KINDS) =>
  ({ label, otherPath, ...page }: SecondFactorPageProps): VNode => {
    const { title, other, ...field } = KINDS[kind]
    const { interaction, error } = page
    return (
      <StepPage
        {...page}
        title={title}
        lead={<Message of="factor.lead" label={<BidiText>{label}</BidiText>} />}
        alternatives={
          <>
            <a href={otherPath}>{other}</a>
            <RestartForm interaction={interaction} />
          </>
        }
      >
        <CodeForm interaction={interaction} step={kind} {...field} error={error} />
      </StepPage>
    )
  }

/**
 * Asks for the passkey of the user. `entry` is the passkey's part of the page, which posts `step=passkey` and shows
 * the error of a passkey; `isLimited` says that the error is about too many of them. Posts `step=restart` or
 * `step=cancel`, too.
 */
export const PasskeyFactorPage = ({
  label,
  entry,
  isLimited,
  ...page
}: StepPageProps & { label: string; entry: PagePart; isLimited: boolean }): VNode => (
  <StepPage
    {...page}
    title={<Message of="factor.passkeyTitle" />}
    lead={<Message of="factor.lead" label={<BidiText>{label}</BidiText>} />}
    alternatives={<RestartForm interaction={page.interaction} />}
  >
    {isLimited && <ErrorMessage>{page.error}</ErrorMessage>}
    {entry}
  </StepPage>
)

/** Asks for the code of the authenticator app. Posts `step=totp` and `code`, `step=restart` or `step=cancel`. */
export const TotpPage = createSecondFactorPage('totp')

/** Asks for a recovery code. Posts `step=recovery` and `code`, `step=restart` or `step=cancel`. */
export const RecoveryCodePage = createSecondFactorPage('recovery')

type PasskeySetupPageProps = StepPageProps & {
  /** PublicKeyCredentialCreationOptionsJSON (WebAuthn Level 3, section 5.1.8). */
  options: object
  /** The URL of the page for an authenticator app. */
  otherPath: string
}

/**
 * Lets a user create a passkey, which is required. Posts `step=create-passkey` and `registration`, `step=restart` or
 * `step=cancel`.
 */
export const PasskeySetupPage = ({ options, otherPath, ...page }: PasskeySetupPageProps): VNode => (
  <StepPage
    {...page}
    title={<Message of="setup.passkeyTitle" />}
    lead={<Message of="setup.passkeyLead" />}
    alternatives={
      <>
        <a href={otherPath}>
          <Message of="setup.totpInstead" />
        </a>
        <RestartForm interaction={page.interaction} />
      </>
    }
  >
    <Paragraph of="setup.passkeyText" />
    <PasskeyCreation interaction={page.interaction} options={options} error={page.error} />
  </StepPage>
)

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
