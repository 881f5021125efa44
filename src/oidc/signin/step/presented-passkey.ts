import { parseAssertion, RejectedPasskey } from '../../../credentials/passkeys/passkeys.ts'
import type { Db } from '../../../database/handle.ts'
import {
  hashHandle,
  type Interaction,
  type PresentedInteraction,
  toBoundInteraction,
} from '../../interactions/interactions.ts'
import { type PresentedPasskey, selectWithPasskey } from './presented-passkey.sql.ts'

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
