import { requireOwnAccount } from '../access/require-scope.ts'
import { toConsent } from '../consents/consents.fields.ts'
import { listUserConsents } from '../consents/consents.ts'
import type { Ctx } from '../core/context.ts'
import { toCredential } from '../credentials/credentials.fields.ts'
import { listUserCredentials } from '../credentials/credentials.ts'
import { IdpUserShape } from '../idps/idp-users.fields.ts'
import { listIdpUsers } from '../idps/idp-users.ts'
import { MAX_PAGE_SIZE, type Page, type PageArgs } from '../schema/page.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import { toSessionBody } from '../sessions/sessions.fields.ts'
import { listUserSessions } from '../sessions/sessions.ts'
import { toUserBody } from '../users/user-body.ts'
import { getUser } from '../users/users.ts'
import { findViewerDeletion } from './account-deletion.ts'

const toIdpUserBody = createBodyMapper(IdpUserShape)

/** All rows of a list. */
async function listAll<Row>(list: (args: PageArgs) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  let after: string | null = null
  do {
    const page: Page<Row> = await list({ first: MAX_PAGE_SIZE, after })
    rows.push(...page.rows)
    const last = page.rows.at(-1)
    after = page.hasNextPage && last ? page.encodeRowCursor(last) : null
  } while (after !== null)
  return rows
}

/**
 * What is stored about the caller, in the shapes of the REST API: the user, active sessions, credentials without their
 * secrets, linked identities, consents and a request to be deleted.
 */
export async function collectOwnData(ctx: Ctx): Promise<Record<string, unknown>> {
  const { userId } = requireOwnAccount(ctx)
  const [user, sessions, credentials, idpUsers, consents, deletion] = await Promise.all([
    getUser(ctx, userId),
    listAll((args) => listUserSessions(ctx, userId, args)),
    listAll((args) => listUserCredentials(ctx, userId, args)),
    listAll((args) => listIdpUsers(ctx, userId, args)),
    listAll((args) => listUserConsents(ctx, userId, args)),
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
