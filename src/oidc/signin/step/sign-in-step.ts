import type { TenantCall } from '../../../access/endpoint.http.ts'
import { parseAssertion, RejectedPasskey } from '../../../credentials/passkeys/passkeys.ts'
import type { Db } from '../../../database/handle.ts'
import type { SentForm } from '../../../pages/form-answers.ts'
import type { AuthorizationState } from '../../authorize/evaluate-request.ts'
import { type PresentedPasskey, selectWithPasskey } from '../../authorize/sign-in-state.sql.ts'
import {
  hashHandle,
  type Interaction,
  type PresentedInteraction,
  toBoundInteraction,
} from '../../interactions/interactions.ts'

/** The user who has signed in, and the new token of the session. */
export type EnteredAccount = { userId: string; token: string }

/** A form of a sign-in that was sent, and the request that sent it. */
export type SentStep = SentForm & { call: TenantCall }

/** A request of a sign-in page, with its interaction and what the browser's session permits. */
export type SignInStep = {
  call: TenantCall
  interaction: Interaction
  authorization: AuthorizationState
  /** The session tokens that the browser sent. */
  tokens: readonly string[]
  /** The form that this request sent; null for a page. */
  sent: SentStep | null
  /** The passkey that the form presents; null if it presents none that is stored. */
  passkey: PresentedPasskey | null
}

/** The credential id of the passkey that a form presents; null if it presents none. */
export function readCredentialId({ step, assertion = '' }: Record<string, string>): string | null {
  if (step !== 'passkey') return null
  try {
    return parseAssertion(assertion).id
  } catch (error) {
    if (error instanceof RejectedPasskey) return null
    throw error
  }
}

/**
 * The interaction that a browser presents, and the passkey with a credential id; null unless there are both.
 * One statement.
 */
export async function findWithPasskey(
  db: Db,
  presented: PresentedInteraction,
  credentialId: string,
): Promise<{ interaction: Interaction; passkey: PresentedPasskey } | null> {
  const row = await selectWithPasskey(db, hashHandle(presented), credentialId)
  const interaction = row && (await toBoundInteraction(db, presented, row, new Date()))
  return interaction && { interaction, passkey: row }
}
