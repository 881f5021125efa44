import { requireOwnAccount } from '../access/require-scope.ts'
import { toConsent } from '../consents/consents.fields.ts'
import { listUserConsents } from '../consents/consents.ts'
import type { Ctx } from '../context/context.ts'
import { toCredential } from '../credentials/credentials.fields.ts'
import { listUserCredentials } from '../credentials/credentials.ts'
import { IdpUserShape } from '../idps/idp-users.fields.ts'
import { listIdpUsers } from '../idps/idp-users.ts'
import { collectRows } from '../schema/page.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import { toSessionBody } from '../sessions/sessions.fields.ts'
import { listUserSessions } from '../sessions/sessions.ts'
import { toUserBody } from '../users/user-body.ts'
import { getUser } from '../users/users.ts'
import { findViewerDeletion } from './account-deletion.ts'

const toIdpUserBody = createBodyMapper(IdpUserShape)

/**
 * What is stored about the caller, in the shapes of the REST API: the user, active sessions, credentials without their
 * secrets, linked identities, consents and a request to be deleted.
 */
export async function collectOwnData(ctx: Ctx): Promise<Record<string, unknown>> {
  const { userId } = requireOwnAccount(ctx)
  const [user, sessions, credentials, idpUsers, consents, deletion] = await Promise.all([
    getUser(ctx, userId),
    collectRows((args) => listUserSessions(ctx, userId, args)),
    collectRows((args) => listUserCredentials(ctx, userId, args)),
    collectRows((args) => listIdpUsers(ctx, userId, args)),
    collectRows((args) => listUserConsents(ctx, userId, args)),
    findViewerDeletion(ctx),
  ])
  return {
    user: toUserBody(ctx, user),
    sessions: sessions.map(toSessionBody),
    credentials: credentials.map(toCredential),
    idpUsers: idpUsers.map(toIdpUserBody),
    consents: consents.map(toConsent),
    deletion,
  }
}
