import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'

const WRITE_PERMISSIONS = statement({ takes: { apiId: 'text', permissions: 'jsonb' } })`
  INSERT INTO "ApiPermission" ("tenantId", "apiId", "name", "description", "translations", "isAllowedInOrganizations")
  SELECT :tenant, :apiId, p.*
  FROM jsonb_to_recordset(:permissions)
    p("name" text, "description" text, "translations" jsonb, "isAllowedInOrganizations" boolean)
  ON CONFLICT ("tenantId", "apiId", "name") DO UPDATE
  SET "description" = EXCLUDED."description", "translations" = EXCLUDED."translations",
    "isAllowedInOrganizations" = EXCLUDED."isAllowedInOrganizations"`

/** Adds permissions to an API, and changes those of the same names, whose roles keep them. */
export const writePermissions = (db: Db, apiId: string, permissions: readonly object[]): Promise<void> =>
  db.run(WRITE_PERMISSIONS, { apiId, permissions })
