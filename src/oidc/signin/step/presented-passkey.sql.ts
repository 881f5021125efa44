import {
  PASSKEY_COLUMNS,
  PASSKEY_RETURNS,
  type StoredPasskey,
} from '../../../credentials/passkeys/passkeys.sql.ts'
import { storedColumns } from '../../../database/columns.ts'
import type { Db } from '../../../database/handle.ts'
import { findByKey } from '../../../database/key-lookup.ts'
import { type RowOf, statement } from '../../../database/statement.ts'
import { PERSON_COLUMNS, PERSON_RETURNS } from '../../authorize/sign-in-state.sql.ts'

const SELECT_WITH_PASSKEY = statement({
  takes: { handleHash: 'bytea', externalId: 'text' },
  returns: {
    ...storedColumns('Interaction', ['browserHash', 'request', 'progress', 'expiresAt']),
    ...PASSKEY_RETURNS,
    ...PERSON_RETURNS,
  },
})`
  SELECT i."browserHash", i."request", i."progress", i."expiresAt", ${PASSKEY_COLUMNS}, ${PERSON_COLUMNS}
  FROM "Interaction" i
  JOIN "Credential" c ON c."tenantId" = :tenant AND c."externalId" = :externalId
  JOIN "User" u ON u."tenantId" = :tenant AND u."id" = c."userId"
  LEFT JOIN LATERAL ${findByKey('Consent', { userId: 'u."id"', clientId: 'i."clientId"' })} k ON true
  WHERE i."tenantId" = :tenant AND i."handleHash" = :handleHash`

/** A passkey that a browser presents, with its user and the user's consent for the client of the interaction. */
export type PresentedPasskey = StoredPasskey & RowOf<{ returns: typeof PERSON_RETURNS }>

/** An interaction and the passkey with a credential id of WebAuthn; null unless both are stored. One statement. */
export const selectWithPasskey = (db: Db, handleHash: Buffer, externalId: string) =>
  db.one(SELECT_WITH_PASSKEY, { handleHash, externalId })
