import type { Sql } from '../../database/db.ts'
import { statement } from '../../database/statement.ts'

const STORE_LINK = statement({ takes: { handleHash: 'bytea', link: 'jsonb' } })`
  UPDATE "Interaction" SET "progress" = "progress" || jsonb_build_object('pendingLink', :link)
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash`

const CLEAR_LINK = statement({ takes: { handleHash: 'bytea' } })`
  UPDATE "Interaction" SET "progress" = "progress" - 'pendingLink'
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash`

/** Stores a proven identity that is not linked; null removes it. Does not change other progress. */
export const updatePendingLink = (
  sql: Sql,
  tenant: string,
  handleHash: Buffer,
  link: object | null,
): Promise<void> =>
  link ? STORE_LINK.run(sql, { tenant, handleHash, link }) : CLEAR_LINK.run(sql, { tenant, handleHash })
