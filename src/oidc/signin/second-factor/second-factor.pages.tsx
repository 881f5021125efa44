import type { VNode } from 'preact'
import { BidiText, ErrorMessage } from '../../../pages/page-shell.pages.tsx'
import { CodeForm } from '../../../pages/parts/code-form.pages.tsx'
import type { PagePart } from '../../../pages/parts/page-part.pages.tsx'
import { Message } from '../../../pages/parts/words.pages.tsx'
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
