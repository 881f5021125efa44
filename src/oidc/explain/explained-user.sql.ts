import { resolveRoles } from '../../access/held-roles.sql.ts'
import type { HeldRoles } from '../../core/scopes.ts'
import type { Db } from '../../database/handle.ts'
import { findByKey } from '../../database/key-lookup.ts'
import { type RowOf, statement } from '../../database/statement.ts'
import type { User } from '../../generated/prisma/client.ts'
import type { Channel } from '../../model/sign-in-methods.ts'
import { buildSignsInSql } from '../../passcodes/passcode-budgets.sql.ts'
import { toUserColumnList, toUserRow, USER_RETURNS } from '../../sessions/sessions.sql.ts'

const SELECT_EXPLAINED_USER = statement({
  takes: { userId: 'text', clientId: 'text?' },
  returns: {
    ...USER_RETURNS,
    /** False for an unverified address of a user who has a verified one. */
    emailSignsIn: 'boolean',
    smsSignsIn: 'boolean',
    /** Null when there is no consent. */
    consentedScopes: 'text[]?',
    consentedClaims: 'text[]?',
    consentedResources: 'text[]?',
    hasPasskey: 'boolean',
    /** The identity providers at which the user has a linked identity. */
    linkedIdpIds: 'text[]',
  },
})`
  SELECT ${toUserColumnList('u')}, ${buildSignsInSql('email')} AS "emailSignsIn", ${buildSignsInSql('sms')} AS "smsSignsIn",
    k."scopes" AS "consentedScopes", k."claims" AS "consentedClaims", k."resources" AS "consentedResources",
    EXISTS (SELECT FROM "Credential" c WHERE c."tenantId" = :tenant AND c."userId" = u."id" AND c."type" = 'public-key') AS "hasPasskey",
    ARRAY(SELECT DISTINCT l."idpId" FROM "IdpUser" l WHERE l."tenantId" = :tenant AND l."userId" = u."id") AS "linkedIdpIds"
  FROM "User" u LEFT JOIN LATERAL ${findByKey('Consent', { userId: 'u."id"', clientId: ':clientId' })} k ON true
  WHERE u."tenantId" = :tenant AND u."id" = :userId`

/** A user with the consent for a client, and the ways by which the user can sign in. */
export type ExplainedUserRow = {
  user: User & { roles: HeldRoles }
  signsIn: Record<Channel, boolean>
  consent: Pick<Row, 'consentedScopes' | 'consentedClaims' | 'consentedResources'>
} & Pick<Row, 'hasPasskey' | 'linkedIdpIds'>
type Row = RowOf<typeof SELECT_EXPLAINED_USER>

/** Returns a user as the decision of a sign-in at a client reads the user; null without one. One statement, and another for roles that the tenant has defined. */
export async function selectExplainedUser(
  db: Db,
  userId: string,
  clientId: string | null,
): Promise<ExplainedUserRow | null> {
  const row = await db.one(SELECT_EXPLAINED_USER, { userId, clientId })
  if (!row) return null
  const user = toUserRow(row)
  const { consentedScopes, consentedClaims, consentedResources, hasPasskey, linkedIdpIds } = row
  return {
    user: { ...user, roles: await resolveRoles(db, user.roles) },
    signsIn: { email: row.emailSignsIn, sms: row.smsSignsIn },
    consent: { consentedScopes, consentedClaims, consentedResources },
    ...{ hasPasskey, linkedIdpIds },
  }
}
