import type { Db } from '../../database/handle.ts'
import { checkFoundRow } from '../../database/key-lookup.ts'
import { type Shape, statement } from '../../database/statement.ts'
import { toGrantEventColumns, toSessionEventColumns } from '../../events/event-columns.sql.ts'
import { buildInsertEventsSql } from '../../events/log.sql.ts'
import { buildEndSessionsSql, buildRevokeGrantsSql } from './revocation-parts.sql.ts'

/**
 * Declares a statement that revokes the grants `g` of `where`, ends the sessions that were issued with them,
 * and records the events. `takes` has the parameters of `where`; `from` names a table that `where` refers to.
 */
const declareRevoke = <const Takes extends Shape>(takes: Takes, where: string, from?: string) =>
  statement({
    takes: { ...takes, now: 'timestamptz', grantEvents: 'jsonb', sessionEvents: 'jsonb' },
    returns: { id: 'text' },
    hasInserted: (rows) => rows.length > 0,
  })`
  WITH revoked_grants AS (${buildRevokeGrantsSql(where, { now: ':now', from })}
  ), grant_event_log AS (${buildInsertEventsSql(':grantEvents', {
    from: 'revoked_grants',
    columns: toGrantEventColumns('revoked_grants'),
  })}
  ), ended_sessions AS (${buildEndSessionsSql('s."grantId" = revoked_grants."id"', {
    now: ':now',
    reason: `'revoked'`,
    from: 'revoked_grants',
  })}
  ), session_event_log AS (${buildInsertEventsSql(':sessionEvents', {
    from: 'ended_sessions',
    columns: toSessionEventColumns('ended_sessions'),
  })}
  )
  SELECT "id" FROM revoked_grants`

const REVOKE_GRANT = declareRevoke(
  { grantId: 'text', clientId: 'text', secretHash: 'bytea?' },
  `g."id" = :grantId AND ${checkFoundRow('g."clientId" = :clientId')} AND (:secretHash IS NULL OR g."secretHash" = :secretHash)`,
)
const REVOKE_GRANT_OF_USED_CODE = declareRevoke({ grantId: 'text' }, 'g."id" = :grantId')
const REVOKE_GRANTS_OF_CLIENT = declareRevoke(
  { clientId: 'text', appTypes: 'text[]' },
  'c."tenantId" = :tenant AND c."id" = :clientId AND c."appType" = ANY(:appTypes) AND g."clientId" = c."id"',
  '"Client" c',
)

/**
 * Which grants to revoke: one of a client, for a refresh token only with the hash of its secret; the grant of
 * a code that was used before (RFC 6749, section 4.1.2); or all grants of a client, if its app type is one of
 * `appTypes`.
 */
export type GrantScope =
  | { kind: 'grant'; grantId: string; clientId: string; secretHash: Buffer | null }
  | { kind: 'used code'; grantId: string }
  | { kind: 'client'; clientId: string; appTypes: string[] }

function sendRevoke(
  db: Db,
  scope: GrantScope,
  values: { now: Date; grantEvents: object; sessionEvents: object },
): Promise<{ id: string }[]> {
  switch (scope.kind) {
    case 'grant':
      return db.many(REVOKE_GRANT, { ...values, ...scope })
    case 'used code':
      return db.many(REVOKE_GRANT_OF_USED_CODE, { ...values, ...scope })
    case 'client':
      return db.many(REVOKE_GRANTS_OF_CLIENT, { ...values, ...scope })
  }
}

/**
 * Revokes grants and records an event of each grant and session, in one statement. False when there was no
 * such grant.
 */
export async function revokeGrantRows(
  db: Db,
  scope: GrantScope,
  { grantEvent, sessionEvent, now }: { grantEvent: object; sessionEvent: object; now: Date },
): Promise<boolean> {
  const values = { now, grantEvents: [grantEvent], sessionEvents: [sessionEvent] }
  return (await sendRevoke(db, scope, values)).length > 0
}
