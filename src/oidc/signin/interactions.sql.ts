import type { Sql } from '../../db.ts'

const NOTE_REFUSAL = `
  UPDATE "Interaction" SET "progress" = "progress" || jsonb_build_object('refusal', $3::jsonb)
  WHERE "tenantId" = $1 AND "handleHash" = $2::bytea`

const DROP_REFUSAL = `
  UPDATE "Interaction" SET "progress" = "progress" - 'refusal' WHERE "tenantId" = $1 AND "handleHash" = $2::bytea`

/**
 * Notes why an input was refused; null drops the note. Touches nothing else of the progress, so that of two forms sent
 * at once the refused one does not undo what the other achieved.
 */
export async function updateRefusal(
  sql: Sql,
  tenant: string,
  handleHash: Buffer,
  refusal: object | null,
): Promise<void> {
  if (refusal) await sql(NOTE_REFUSAL, [tenant, handleHash, JSON.stringify(refusal)])
  else await sql(DROP_REFUSAL, [tenant, handleHash])
}
