import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'

/** How an interaction is found: by its handle, while it is bound as when it was read. */
export type InteractionBinding = { handleHash: Buffer; browserHash: Buffer }

const SET_REJECTION = statement({ takes: { handleHash: 'bytea', browserHash: 'bytea', refusal: 'jsonb' } })`
  UPDATE "Interaction" SET "progress" = "progress" || jsonb_build_object('refusal', :refusal)
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash`

const CLEAR_REJECTION = statement({ takes: { handleHash: 'bytea', browserHash: 'bytea' } })`
  UPDATE "Interaction" SET "progress" = "progress" - 'refusal'
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "browserHash" = :browserHash`

/**
 * Stores why an input was rejected; null clears it. Does not change other progress, so that of two forms
 * submitted at the same time the rejected one does not undo the other.
 */
export const updateInputRejection = (
  db: Db,
  binding: InteractionBinding,
  refusal: object | null,
): Promise<void> =>
  refusal ? db.run(SET_REJECTION, { ...binding, refusal }) : db.run(CLEAR_REJECTION, { ...binding })
