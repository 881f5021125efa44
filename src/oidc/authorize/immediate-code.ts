import type { Ctx } from '../../core/context.ts'
import { sha256 } from '../../core/crypto.ts'
import { isScope } from '../../core/scopes.ts'
import { addSeconds } from '../../core/time.ts'
import { sql } from '../../database/db.ts'
import { recordBrowserUse } from '../../sessions/sessions.ts'
import type { PendingRedirect } from '../model/authorize-request.ts'
import { selectRequestableScopes } from '../model/scopes.ts'
import { prepareRequestedCode } from '../token/authorization-codes.ts'
import { evaluateState, findRequestTerms, type RequestTerms, selectMaxAge } from './evaluate-request.ts'
import { type ImmediateTerms, insertImmediateCode } from './immediate-code.sql.ts'
import { listConsentScopes } from './next-step.ts'
import { type AuthorizationResponse, buildCodeResponse } from './response-modes.ts'
import type { SignInState } from './sign-in-state.sql.ts'

/** Whether a statement can decide the request, without the proofs and the roles of the user. */
const isPlain = (
  { prompt, claims, loginHint, maxAgeSeconds }: PendingRedirect,
  { client, secondFactorPolicy: { mode, requiredOfRoles } }: RequestTerms,
  scopes: readonly string[],
): boolean =>
  prompt.every((value) => value === 'none') &&
  claims === null &&
  loginHint === null &&
  selectMaxAge({ maxAgeSeconds }, client) !== 0 &&
  !client.requireSecondFactor &&
  mode !== 'required' &&
  requiredOfRoles.length === 0 &&
  !scopes.some(isScope)

function buildTerms(
  request: PendingRedirect,
  { client, requiredTerms }: RequestTerms,
  scopes: string[],
  now: Date,
): ImmediateTerms {
  const maxAge = selectMaxAge(request, client)
  return {
    since: maxAge === null ? null : addSeconds(now, -maxAge),
    subjectHint: request.subjectHint,
    // A renewal without pages continues, as in `selectNextStep`.
    termsVersion: request.prompt.includes('none') ? null : requiredTerms,
    consentScopes: [...listConsentScopes({ requireConsent: client.requireConsent, scopes })],
  }
}

/**
 * Issues a code at once when the browser has one session and the request is plain: one statement reads the state and
 * inserts the code. Null when another step may be next, which `evaluateRequest` finds. The next step is still selected
 * from the state: a code that the statement should not have inserted is not returned, and expires within a minute.
 */
export async function issueImmediateCode(
  ctx: Ctx,
  request: PendingRedirect,
  tokens: readonly string[],
  now = new Date(),
): Promise<AuthorizationResponse | null> {
  const [token, another] = tokens
  if (token === undefined || another !== undefined) return null
  const terms = await findRequestTerms(ctx, request)
  const scopes = selectRequestableScopes(request.scopes, terms.client)
  if (!isPlain(request, terms, scopes)) return null
  const { code, values } = prepareRequestedCode(request, scopes, now)
  const inserted = { ...values, tokenHash: sha256(token) }
  const state = await insertImmediateCode(sql, ctx.tenant, inserted, buildTerms(request, terms, scopes, now))
  if (!state) return null
  await recordBrowserUse(ctx.tenant, state, now, ctx)
  return isIssued(request, terms, state, token, now) ? buildCodeResponse(ctx.tenant, request, code) : null
}

function isIssued(
  request: PendingRedirect,
  terms: RequestTerms,
  state: SignInState,
  token: string,
  now: Date,
): boolean {
  const accounts = [{ ...state, token, isActive: true, isOfClient: false }]
  const choice = { state, isAmbiguous: false, isChosen: false }
  const { next } = evaluateState(request, {}, { ...terms, provenUser: null, accounts }, choice, now)
  return next.step === 'issue'
}
