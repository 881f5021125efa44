import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'

/** Invitations that a user sees. */
const MAX_INVITATIONS = 50

/**
 * SQL of the condition that the invitation `i` works, makes the user `u`, who has its verified address, a member of another
 * organization, and gives nothing else: what gives rights is accepted by its link alone, because an administrator may have set the
 * address.
 */
const IS_OWN_INVITATION = `u."emailVerified" AND i."tenantId" = :tenant AND i."emailKey" = u."emailKey"
    AND i."organizationId" IS NOT NULL AND i."roles" = '{}' AND i."appRoleIds" = '{}' AND NOT i."isAdministrator"
    AND i."acceptedAt" IS NULL AND NOT i."revoked" AND i."expiresAt" > :now
    AND NOT EXISTS (
      SELECT FROM "Membership" m WHERE m."tenantId" = :tenant AND m."organizationId" = i."organizationId" AND m."userId" = u."id"
    )
    AND (NOT i."byAdministrator" OR EXISTS (
      SELECT FROM "Membership" b WHERE b."tenantId" = :tenant AND b."organizationId" = i."organizationId"
        AND b."userId" = i."invitedBy" AND b."isAdministrator"
    ))`

const SELECT_OWN_INVITATIONS = statement({
  takes: { userId: 'text', id: 'text?', now: 'timestamptz' },
  returns: {
    id: 'text',
    organizationId: 'text',
    organizationName: 'text',
    inviterName: 'text?',
    expiresAt: 'timestamptz',
  },
})`
  SELECT i."id", i."organizationId", o."name" AS "organizationName", i."inviterName", i."expiresAt"
  FROM "User" u
  JOIN "Invitation" i ON ${IS_OWN_INVITATION}
  JOIN "Organization" o ON o."tenantId" = :tenant AND o."id" = i."organizationId"
  WHERE u."tenantId" = :tenant AND u."id" = :userId AND (:id::text IS NULL OR i."id" = :id)
  ORDER BY i."sentAt" DESC, i."id" LIMIT ${MAX_INVITATIONS}`

/** An invitation to an organization, as the user who may accept it sees it. */
export type OwnInvitation = RowOf<typeof SELECT_OWN_INVITATIONS>

/** The invitations to organizations that a user may accept, newest first: all of them, or the one with an id. */
export const selectOwnInvitations = (
  db: Db,
  { userId, id = null, now = new Date() }: { userId: string; id?: string | null; now?: Date },
): Promise<OwnInvitation[]> => db.many(SELECT_OWN_INVITATIONS, { userId, id, now })

const SELECT_OWN_SECTIONS = statement({
  takes: { userId: 'text', now: 'timestamptz' },
  returns: { hasKeys: 'boolean', hasOrganizations: 'boolean' },
})`
  SELECT EXISTS (SELECT FROM "ApiKey" k WHERE k."tenantId" = :tenant AND k."userId" = u."id") AS "hasKeys",
    EXISTS (SELECT FROM "Membership" m WHERE m."tenantId" = :tenant AND m."userId" = u."id")
      OR EXISTS (SELECT FROM "Invitation" i WHERE ${IS_OWN_INVITATION}) AS "hasOrganizations"
  FROM "User" u WHERE u."tenantId" = :tenant AND u."id" = :userId`

/** Which account pages have something of the user: API keys; organizations or invitations to them. One statement. */
export const selectOwnSections = (db: Db, userId: string) =>
  db.one(SELECT_OWN_SECTIONS, { userId, now: new Date() })
