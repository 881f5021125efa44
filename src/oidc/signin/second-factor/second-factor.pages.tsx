import type { VNode } from 'preact'
import { CodeForm } from '../../../pages/code-form.pages.tsx'
import type { PagePart } from '../../../pages/page-part.pages.tsx'
import { BidiText, ErrorMessage } from '../../../pages/page-shell.pages.tsx'
import { RestartForm } from '../step/restart.pages.tsx'
import { StepPage, type StepPageProps } from '../step/step-page.pages.tsx'

type SecondFactorPageProps = StepPageProps & {
  /** The address or name of the account. */
  label: string
  /** The URL of the page for the other second factor. */
  otherPath: string
}

/** The texts of each second factor, and the digits of its codes. */
const KINDS = {
  totp: {
    title: 'Enter the code of your app',
    label: '6-digit code',
    hint: 'Open your authenticator app. It shows a new code every 30 seconds.',
    other: 'Use a recovery code',
    digits: 6,
  },
  recovery: {
    title: 'Enter a recovery code',
    label: 'Recovery code',
    hint: 'Each of your recovery codes works once.',
    other: 'Use your authenticator app',
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
        lead={
          <>
            To sign in as <BidiText>{label}</BidiText>, confirm that it’s you.
          </>
        }
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
    title="Use your passkey"
    lead={
      <>
        To sign in as <BidiText>{label}</BidiText>, confirm that it’s you.
      </>
    }
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
