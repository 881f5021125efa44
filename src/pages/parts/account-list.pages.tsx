import type { ComponentChildren, VNode } from 'preact'
import { getInitial } from '../../core/initial.ts'
import { BidiText, type PageInteraction, StepForm } from '../page-shell.pages.tsx'
import { PlainList } from './controls.pages.tsx'
import type { PagePerson } from './person.pages.tsx'
import { Message, useWords } from './words.pages.tsx'

/** An account of the browser. `id` is that of its session. */
export type ShownAccount = PagePerson & { id: string; isActive: boolean; lastSeenAt: Date | null }

/** The name and the address of an account, as far as known. */
const listNames = ({ name, email, phoneNumber }: PagePerson): string[] =>
  [name, email || phoneNumber].filter((text): text is string => Boolean(text))

/** What a button of an account is called: its address, or else its name. */
const getAccountLabel = (account: PagePerson): string => listNames(account).at(-1) ?? '?'

/** An account: its initial, its name and address, and when it was last used or that it is signed out. */
export function AccountLine({ account }: { account: ShownAccount }): VNode {
  const words = useWords()
  const shown = listNames(account)
  return (
    <>
      <span class="person-mark" aria-hidden="true">
        {getInitial(shown[0] ?? '?')}
      </span>
      <span class="person-text">
        {shown.map((text, index) => (
          <span class={index === 0 ? 'person-name' : 'hint'} key={text}>
            <BidiText>{text}</BidiText>
          </span>
        ))}
        <span class="hint">
          {account.isActive ? (
            account.lastSeenAt && <Message of="select.lastUsed" time={words.formatAgo(account.lastSeenAt)} />
          ) : (
            <Message of="select.signedOut" />
          )}
        </span>
      </span>
    </>
  )
}

type AccountActionProps = {
  account: ShownAccount
  interaction: PageInteraction
  step: string
  /** What the button is called where it does not stand beside the account. */
  label: 'logout.name' | 'select.removeName'
  children: ComponentChildren
}

/** A form about one account. Posts `step` with `account`. */
export const AccountAction = ({ account, interaction, step, label, children }: AccountActionProps): VNode => (
  <StepForm interaction={interaction} step={step}>
    <button
      type="submit"
      name="account"
      value={account.id}
      class="quiet"
      aria-label={useWords().text(label, { name: getAccountLabel(account) })}
    >
      {children}
    </button>
  </StepForm>
)

/** A list of accounts, one item each. */
export const AccountList = ({ children }: { children: ComponentChildren }): VNode => (
  <PlainList class="accounts">{children}</PlainList>
)
