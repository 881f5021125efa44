import type { Sql } from '../../database/db.ts'
import { statement } from '../../database/statement.ts'

const SET_REJECTION = statement({ takes: { handleHash: 'bytea', refusal: 'jsonb' } })`
  UPDATE "Interaction" SET "progress" = "progress" || jsonb_build_object('refusal', :refusal)
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash`

const CLEAR_REJECTION = statement({ takes: { handleHash: 'bytea' } })`
  UPDATE "Interaction" SET "progress" = "progress" - 'refusal'
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash`

/**
 * Stores why an input was rejected; null clears it. Does not change other progress, so that of two forms
 * submitted at the same time the rejected one does not undo the other.
 */
export const updateInputRejection = (
  sql: Sql,
  tenant: string,
  handleHash: Buffer,
  refusal: object | null,
): Promise<void> =>
  refusal
    ? SET_REJECTION.run(sql, { tenant, handleHash, refusal })
    : CLEAR_REJECTION.run(sql, { tenant, handleHash })
