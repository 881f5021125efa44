import {
  buildPasskeyUseCtes,
  PASSKEY_USE_PARAMETERS,
  type PasskeyUse,
} from '../../../credentials/passkeys/passkeys.sql.ts'
import type { Db } from '../../../database/handle.ts'
import { prefixNames, prefixParameters, type RowOf, statement } from '../../../database/statement.ts'
import { LATER_CLAIM } from '../../../http/idempotency.sql.ts'
import type { KeptFields } from '../../../pages/form-answers.ts'
import {
  buildNewSessionCtes,
  NEW_SESSION_PARAMETERS,
  type NewSession,
  SESSION_LOCKS,
} from '../../../sessions/sessions.sql.ts'

// Each part depends on the one before it: the locks of the user and the consent, the use of the passkey, the end
// of the interaction, the session. Where one has no row, those after it change nothing.
const PASSKEY_USE = prefixParameters(
  'passkey_',
  PASSKEY_USE_PARAMETERS,
  buildPasskeyUseCtes(
    'EXISTS (SELECT FROM locked_user) AND (NOT :needsConsent OR EXISTS (SELECT FROM locked_consent))',
  ),
)
const NEW_SESSION = prefixParameters(
  'session_',
  NEW_SESSION_PARAMETERS,
  buildNewSessionCtes('EXISTS (SELECT FROM finished)'),
)
const LOCKS = prefixParameters('session_', NEW_SESSION_PARAMETERS, SESSION_LOCKS)

const COMPLETE_BY_PASSKEY = statement({
  takes: {
    ...PASSKEY_USE.takes,
    ...NEW_SESSION.takes,
    clientId: 'text',
    interactionHash: 'bytea',
    browserHash: 'bytea',
    needsConsent: 'boolean',
    keyHash: 'bytea',
    requestHash: 'bytea',
    answer: 'text?',
    seconds: 'int',
  },
  returns: { isUserActive: 'boolean', hasConsent: 'boolean', isSignedIn: 'boolean' },
})`
  WITH ${LOCKS.text}, locked_consent AS (
    SELECT k."userId" FROM "Consent" k JOIN locked_user u ON k."userId" = u."id"
    WHERE k."tenantId" = :tenant AND k."clientId" = :clientId FOR SHARE OF k
  ), ${PASSKEY_USE.text}, finished AS (
    DELETE FROM "Interaction"
    WHERE "tenantId" = :tenant AND "handleHash" = :interactionHash AND "browserHash" = :browserHash
      AND EXISTS (SELECT FROM used_passkey)
    RETURNING "handleHash"
  ), ${NEW_SESSION.text}, kept AS (
    INSERT INTO "IdempotencyKey" AS k ("tenantId", "keyHash", "requestHash", "answer", "expiresAt")
    SELECT :tenant, :keyHash, :requestHash, :answer, now() + make_interval(secs => :seconds) FROM new_session
    WHERE :answer IS NOT NULL
    ON CONFLICT ("tenantId", "keyHash") DO UPDATE
    SET "requestHash" = EXCLUDED."requestHash", "answer" = EXCLUDED."answer", "expiresAt" = EXCLUDED."expiresAt",
      "createdAt" = ${LATER_CLAIM}
  )
  SELECT EXISTS (SELECT FROM locked_user) AS "isUserActive",
    NOT :needsConsent OR EXISTS (SELECT FROM locked_consent) AS "hasConsent",
    EXISTS (SELECT FROM new_session) AS "isSignedIn"`

/** What a sign-in by a passkey stores when nothing is left to ask. */
export type PasskeyCompletion = {
  passkey: PasskeyUse
  session: NewSession
  /** The event of the session's start. */
  event: object
  clientId: string
  /** The interaction that the sign-in ends, as it is bound. */
  interactionHash: Buffer
  browserHash: Buffer
  /** The response that is kept for the form, if it is sent again. */
  kept: KeptFields
  /** Whether the user must have consented to something for the client. */
  needsConsent: boolean
}

/** How far a completion came: a part that is false, and the parts after it, have changed nothing. */
type PasskeyCompletionResult = RowOf<typeof COMPLETE_BY_PASSKEY>

/** Uses a passkey, starts a session and ends the interaction, in one statement. */
export async function storePasskeyCompletion(
  db: Db,
  { passkey, session, event, kept, ...terms }: PasskeyCompletion,
): Promise<PasskeyCompletionResult> {
  const row = await db.one(COMPLETE_BY_PASSKEY, {
    ...prefixNames('passkey_', passkey),
    ...prefixNames('session_', { ...session, events: [event] }),
    ...terms,
    ...kept,
  })
  return row as PasskeyCompletionResult
}
