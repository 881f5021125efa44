import { toAddressKey } from '../../schema/address-keys.ts'
import type { NamedAccount } from '../../sessions/browser-accounts.ts'
import type { LogoutRequest } from './logout.ts'

/** What a logout request does with the accounts that are signed in to the browser. */
export type LogoutChoice =
  /** The request proves to know the session, or nobody is signed in. */
  | { step: 'end'; accounts: NamedAccount[] }
  | { step: 'confirm'; account: NamedAccount }
  | { step: 'choose'; accounts: NamedAccount[] }

function isHinted(account: NamedAccount, hint: string): boolean {
  if ([account.id, account.userId].includes(hint)) return true
  const key = toAddressKey(hint)
  return (
    key !== null &&
    [account.email, account.phoneNumber].some((text) => text !== null && toAddressKey(text) === key)
  )
}

/**
 * Chooses the account to sign out (RP-Initiated Logout 1.0, section 2): that of the id_token_hint, else that of the
 * logout_hint, which is an address or an id of the user or of the session. Any site can link to the endpoint, so only an
 * ID token of a session ends it without a confirmation. Pure.
 */
export function chooseLogout(
  request: Pick<LogoutRequest, 'hintedSessionId' | 'hintedUserId' | 'logoutHint'>,
  active: readonly NamedAccount[],
): LogoutChoice {
  const { hintedSessionId, hintedUserId, logoutHint } = request
  const proven = active.find(({ id }) => id === hintedSessionId)
  if (proven) return { step: 'end', accounts: [proven] }
  const hinted =
    active.find(({ userId }) => userId === hintedUserId) ??
    (logoutHint === null ? undefined : active.find((account) => isHinted(account, logoutHint)))
  const [first, second] = active
  const account = hinted ?? (second ? undefined : first)
  if (account) return { step: 'confirm', account }
  return first ? { step: 'choose', accounts: [...active] } : { step: 'end', accounts: [] }
}

/** The accounts that a form names by `account`: the id of a session, or `all`. A single one needs no name. */
export const selectLogoutAccounts = (
  active: readonly NamedAccount[],
  account: string | undefined,
): NamedAccount[] =>
  active.filter(
    ({ id }) => account === 'all' || (account === undefined ? active.length === 1 : account === id),
  )
