import type { VNode } from 'preact'
import { BidiText } from '../../../pages/page-shell.pages.tsx'
import { CodeForm } from '../../../pages/parts/code-form.pages.tsx'
import { Hint, Message } from '../../../pages/parts/words.pages.tsx'
import { formatAddress } from '../step/address-texts.ts'
import { RestartForm, StepPage, type StepPageProps } from '../step/step-page.pages.tsx'
import { ResendForm } from './resend-form.pages.tsx'

/** That of passcodes. */
const LIFETIME_MINUTES = 10

type CodePageProps = StepPageProps & {
  /** The address that the code was sent to: an e-mail address as entered, or a phone number in E.164. */
  address: string
  /** The code was sent whether or not a user has the address. */
  isSent?: boolean
  /** The code replaced an earlier one. */
  isResent?: boolean
  /** No code can be entered before a new one is requested. */
  isUsedUp?: boolean
  /** An e-mail address could create an account. The same for every phone number, known or not. */
  offersSignUp?: boolean
  /** The number of digits of the code. */
  digits?: 6 | 10
  /** When a new code can be requested; omitted when it can be now. */
  resendAllowedAt?: Date | null
  /** The user may sign in by another method: the way back to the first page says so. */
  offersOtherWay?: boolean
  /** The URL of the page for the password of the system that the tenant moves from. */
  passwordPath?: string | null
  now?: Date
}

/**
 * Asks for the code. Posts `step=code` and `code`, or `step=resend`, `step=restart` for another address, or
 * `step=cancel`.
 */
export function CodePage({
  address,
  isSent = false,
  isResent = false,
  isUsedUp = false,
  offersSignUp = false,
  digits = 6,
  resendAllowedAt,
  offersOtherWay,
  passwordPath,
  now = new Date(),
  ...page
}: CodePageProps): VNode {
  const { interaction, error } = page
  const isNumber = !address.includes('@')
  const otherAddress = <Message of={isNumber ? 'code.changeNumber' : 'code.otherAddress'} />
  const shown = <BidiText>{formatAddress(address)}</BidiText>
  const sent = isResent ? 'code.resent' : 'code.sent'
  const perhapsSent = isResent ? 'code.perhapsResent' : 'code.perhapsSent'
  return (
    <StepPage
      {...page}
      title={<Message of="code.title" />}
      lead={<Message of={isSent ? sent : perhapsSent} address={shown} />}
      alternatives={
        <>
          {isNumber && offersSignUp && <Hint of="code.numberSignUp" />}
          <ResendForm {...{ interaction, resendAllowedAt, now }} />
          {passwordPath && (
            <a href={passwordPath}>
              <Message of="password.use" />
            </a>
          )}
          <RestartForm interaction={interaction}>{offersOtherWay ? undefined : otherAddress}</RestartForm>
        </>
      }
    >
      <CodeForm
        interaction={interaction}
        step="code"
        label={<Message of="code.label" digits={digits} />}
        hint={
          isUsedUp ? null : <Message of={isNumber ? 'code.hint' : 'code.mailHint'} count={LIFETIME_MINUTES} />
        }
        digits={digits}
        error={error}
        submit={<Message of={isSent ? 'action.continue' : 'action.signIn'} />}
      />
    </StepPage>
  )
}
