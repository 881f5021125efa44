import type { Db } from '../../database/handle.ts'
import { checkFoundRow } from '../../database/key-lookup.ts'
import { statement } from '../../database/statement.ts'

/** What was granted: no token of a grant exceeds it. */
export type GrantedAccess = { scopes: string[]; resources: string[]; defaultAudience: string | null }

/** What a token request presents: a device code or a refresh token. */
export type PresentedArtifact =
  | { from: 'DeviceCode'; codeHash: Buffer }
  | { from: 'Grant'; grantId: string; secretHash: Buffer }

const returns = { scopes: 'text[]', resources: 'text[]', defaultAudience: 'text?' } as const
const SELECT_BY_DEVICE_CODE = statement({
  takes: { clientId: 'text', codeHash: 'bytea' },
  returns,
})`
  SELECT "scopes", "resources", "defaultAudience" FROM "DeviceCode"
  WHERE "tenantId" = :tenant AND "clientId" = :clientId AND "codeHash" = :codeHash`

const SELECT_BY_GRANT = statement({
  takes: { clientId: 'text', secretHash: 'bytea', grantId: 'text' },
  returns,
})`
  SELECT "scopes", "resources", "defaultAudience" FROM "Grant"
  WHERE "tenantId" = :tenant AND "id" = :grantId AND "secretHash" = :secretHash AND ${checkFoundRow('"clientId" = :clientId')}`

/** The granted scopes and resources of an artifact of this client; null when it does not exist. */
export const selectGrantedAccess = (
  db: Db,
  presented: PresentedArtifact,
  clientId: string,
): Promise<GrantedAccess | null> =>
  presented.from === 'Grant'
    ? db.one(SELECT_BY_GRANT, { clientId, ...presented })
    : db.one(SELECT_BY_DEVICE_CODE, { clientId, ...presented })
