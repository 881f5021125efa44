import { type Ctx, toUserCtx } from '../context/context.ts'
import { sha256 } from '../core/crypto.ts'
import { Handle } from '../database/handle.ts'
import { selectBrowserAccounts } from './browser-accounts.sql.ts'
import { endSession } from './sessions.ts'

/** How many accounts a browser keeps for a tenant. */
export const MAX_BROWSER_ACCOUNTS = 6

/** An account of a browser: its session, which may have ended, and the token of the cookie. */
export type BrowserAccount = {
  id: string
  userId: string
  token: string
  isActive: boolean
  lastSeenAt: Date | null
}

/** An account with the names of its user. */
export type NamedAccount = BrowserAccount & {
  name: string | null
  email: string | null
  phoneNumber: string | null
}

/**
 * The accounts of rows, each with its token, in the order of `tokens`. A user has one account: that of the active
 * session, or else that of the first token.
 */
export function toBrowserAccounts<Row extends { userId: string; isActive: boolean; tokenHash: Buffer }>(
  rows: readonly Row[],
  tokens: readonly string[],
): (Omit<Row, 'tokenHash'> & { token: string })[] {
  const sessions = tokens.flatMap((token) => {
    const hash = sha256(token)
    const row = rows.find(({ tokenHash }) => hash.equals(tokenHash))
    if (!row) return []
    const { tokenHash: _, ...session } = row
    return [{ ...session, token }]
  })
  const isFirst = (account: { userId: string }, index: number) =>
    sessions.findIndex(({ userId }) => userId === account.userId) === index
  return sessions
    .map(
      (account) => sessions.find(({ userId, isActive }) => userId === account.userId && isActive) ?? account,
    )
    .filter(isFirst)
}

/** Finds the accounts of a browser's tokens. One statement; none without tokens. */
export async function findBrowserAccounts(
  tenant: string,
  tokens: readonly string[],
): Promise<NamedAccount[]> {
  if (tokens.length === 0) return []
  return toBrowserAccounts(
    await selectBrowserAccounts(new Handle({ tenant }), tokens.map(sha256), new Date()),
    tokens,
  )
}

/** The accounts that a browser drops when a user signs in: signed-out ones first, then those not used for longest. */
export function listSurplusAccounts<Account extends BrowserAccount>(
  present: readonly Account[],
  userId: string,
): Account[] {
  const others = present.filter((account) => account.userId !== userId)
  return others
    .toSorted(
      (one, other) =>
        Number(one.isActive) - Number(other.isActive) ||
        (one.lastSeenAt?.getTime() ?? 0) - (other.lastSeenAt?.getTime() ?? 0),
    )
    .slice(0, Math.max(0, others.length + 1 - MAX_BROWSER_ACCOUNTS))
}

/** Ends the sessions of accounts in the name of their users. */
export async function endAccounts(
  ctx: Ctx,
  accounts: readonly BrowserAccount[],
  clientId?: string | null,
): Promise<void> {
  for (const { id, userId, isActive } of accounts)
    if (isActive) await endSession(toUserCtx(ctx, { userId, sessionId: id, clientId }), id, 'logout')
}
