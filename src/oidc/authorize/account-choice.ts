import type { Ctx } from '../../context/context.ts'
import { sha256 } from '../../core/crypto.ts'
import { Handle } from '../../database/handle.ts'
import { toAddressKey } from '../../schema/address-keys.ts'
import { type BrowserAccount, toBrowserAccounts } from '../../sessions/browser-accounts.ts'
import { recordBrowserUse } from '../../sessions/sessions.ts'
import type { Progress } from '../interactions/progress.ts'
import type { PendingRequest } from '../model/authorize-request.ts'
import { isForUser } from '../model/claims-request.ts'
import { type SignInState, selectBrowserSignIns, selectSignInState } from './sign-in-state.sql.ts'

/** An account of the browser, with the consent of its user for the client. */
export type AccountState = SignInState & BrowserAccount & { isOfClient: boolean }

/** The session of a request, and how it was chosen among those of the browser. */
export type AccountChoice = {
  state: SignInState | null
  /** Other accounts fit as well. */
  isAmbiguous: boolean
  /** The user chose it for this request, or signed in to it. */
  isChosen: boolean
}

export const getAddressHint = ({ loginHint }: Pick<PendingRequest, 'loginHint'>): string | null =>
  loginHint === null ? null : toAddressKey(loginHint)

/** The e-mail address and the phone number of a user as address keys. */
export const listAddressKeys = ({
  email,
  phoneNumber,
}: Pick<SignInState, 'email' | 'phoneNumber'>): string[] =>
  [email, phoneNumber].flatMap((text) => (text && toAddressKey(text)) || [])

/** Whether the account is the one that id_token_hint, the `sub` claim and login_hint name, if any. */
export function isNamed(
  request: PendingRequest,
  account: Pick<AccountState, 'userId' | 'email' | 'phoneNumber'>,
): boolean {
  const { subjectHint, claims } = request
  const address = getAddressHint(request)
  return (
    (subjectHint === null || subjectHint === account.userId) &&
    isForUser(claims, account.userId) &&
    (address === null || listAddressKeys(account).includes(address))
  )
}

/**
 * Chooses the session of a request among the accounts of a browser, the current one first: the one that the user chose
 * or signed in to, else the only one that the request names. If it names none of them, the current one, which the next
 * step compares with the request. With prompt=none, the session in which the client has a grant is chosen among
 * several. Pure.
 */
export function chooseAccount(
  request: PendingRequest,
  { sessionId, chosenSession }: Progress,
  accounts: readonly AccountState[],
): AccountChoice {
  const active = accounts.filter(({ isActive }) => isActive)
  const chosen =
    active.find(({ id }) => id === sessionId) ?? active.find(({ id }) => id === chosenSession) ?? null
  if (chosen) return { state: chosen, isAmbiguous: false, isChosen: true }
  const named = active.filter((account) => isNamed(request, account))
  const ofClient = request.prompt.includes('none') ? named.filter(({ isOfClient }) => isOfClient) : []
  const candidates = ofClient.length === 1 ? ofClient : named
  return {
    state: candidates[0] ?? active[0] ?? null,
    isAmbiguous: candidates.length > 1,
    isChosen: false,
  }
}

/**
 * Reads the accounts of a browser and chooses one: one statement when the browser has one session, which is active.
 * The use of the chosen session is recorded by another statement, at most once a minute.
 */
export async function findAccounts(
  ctx: Ctx,
  { request, progress, clientId }: { request: PendingRequest; progress: Progress; clientId: string },
  tokens: readonly string[],
  now: Date,
): Promise<AccountChoice & { accounts: AccountState[] }> {
  const accounts = await listAccounts(ctx, { clientId, demand: request.organization }, tokens, now)
  const choice = chooseAccount(request, progress, accounts)
  if (choice.state && !choice.isAmbiguous) await recordBrowserUse(ctx.tenant, choice.state, now, ctx)
  return { accounts, ...choice }
}

async function listAccounts(
  { tenant }: Ctx,
  ofClient: { clientId: string; demand: PendingRequest['organization'] },
  tokens: readonly string[],
  now: Date,
): Promise<AccountState[]> {
  const [token, another] = tokens
  if (token === undefined) return []
  if (another === undefined) {
    const state = await selectSignInState(new Handle({ tenant }), {
      ...ofClient,
      tokenHash: sha256(token),
      now,
    })
    if (state) return [{ ...state, token, isActive: true, isOfClient: false }]
  }
  return toBrowserAccounts(
    await selectBrowserSignIns(new Handle({ tenant }), { ...ofClient, tokenHashes: tokens.map(sha256), now }),
    tokens,
  )
}
