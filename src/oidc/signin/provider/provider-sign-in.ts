import type { Ctx } from '../../../context/context.ts'
import { toUserCtx } from '../../../context/context.ts'
import { InvalidInput, Unavailable, UserLocked } from '../../../core/errors.ts'
import type { Tx } from '../../../database/handle.ts'
import { createEvent } from '../../../events/create-event.ts'
import { recordEvents } from '../../../events/log.ts'
import type { SignInFailure } from '../../../events/reasons.ts'
import type { IdentityProvider } from '../../../generated/prisma/client.ts'
import type { ClaimedRoles } from '../../../idps/claimed-roles.ts'
import { findVerifiedEmail } from '../../../idps/entry-policy.ts'
import type { ExternalIdentity } from '../../../idps/external-identity.ts'
import { isOwnAddress } from '../../../idps/idp-organization.ts'
import { useLink } from '../../../idps/idp-sign-in.ts'
import { copyRepeatedClaims, findOrCreateLinkedUser } from '../../../idps/linked-users.ts'
import { type Explanation, findExplanation } from '../../../idps/provider/provider-errors.ts'
import { storeProviderSession } from '../../../idps/provider/provider-sessions.ts'
import { type ProvenSignIn, proveSignIn } from '../../../idps/sign-in-identity.ts'
import { keepSignInTokens, type ProviderTokens } from '../../../idps/tokens/kept-tokens.ts'
import { findProviderCause, PROVIDER_CAUSES, type ProviderCause } from '../../../model/provider-causes.ts'
import { hasJoinDomains, isEndedByScim, joinByDomain } from '../../../organizations/domain-joins.ts'
import { addMember } from '../../../organizations/memberships.ts'
import { limitUnauthenticated } from '../../../passcodes/network-limits.ts'
import type { NeedsSecondFactor } from '../../../passcodes/passcodes.ts'
import { syncProviderRoles } from '../../../permissions/provider-roles.ts'
import { toEmailKey } from '../../../schema/address-keys.ts'
import { AMR_FEDERATED } from '../../../sessions/acr.ts'
import type { BrowserAccount } from '../../../sessions/browser-accounts.ts'
import { toSessionProof } from '../../../sessions/proofs.ts'
import { enterBrowserSession } from '../../../sessions/sessions.ts'
import { lockUserRow } from '../../../users/lock-user.sql.ts'
import type { Interaction } from '../../interactions/interactions.ts'
import { recordProof } from '../step/sign-in.ts'
import type { EnteredAccount } from '../step/sign-in-step.ts'
import type { CallbackAnswer } from './callback-answer.ts'
import type { ClaimedAttempt } from './provider-attempt.ts'

/** A sign-in at a provider that was not accepted. The reason is recorded; the page shows fewer. */
export class RejectedIdentity extends Error {
  readonly reason: SignInFailure
  readonly userId: string | null
  /** The error code of the provider. */
  readonly code: string | undefined
  /** The cause, and what was found; null where the reason says everything. */
  readonly explanation: Explanation | null
  /** The proven identity that is not linked. */
  readonly identity: ExternalIdentity | undefined
  readonly provenAt: Date | undefined
  /** Its tokens, if the provider keeps them. */
  readonly tokens: ProviderTokens | null

  constructor(
    reason: SignInFailure,
    more: {
      userId?: string
      code?: string
      explanation?: Explanation | null
      identity?: ExternalIdentity
      provenAt?: Date
      tokens?: ProviderTokens | null
      cause?: unknown
    } = {},
  ) {
    super(`a sign-in at an identity provider was not accepted: ${reason}`, { cause: more.cause })
    this.reason = reason
    this.userId = more.userId ?? null
    this.code = more.code
    this.explanation = more.explanation ?? null
    this.identity = more.identity
    this.provenAt = more.provenAt
    this.tokens = more.tokens ?? null
  }

  /** The reason that pages show: it distinguishes a canceled sign-in, an absent provider and a wrong configuration. */
  get shownReason(): 'canceled' | 'misconfigured' | 'unavailable' | 'rejected' {
    if (this.explanation && PROVIDER_CAUSES[this.explanation.cause] === 'misconfigured')
      return 'misconfigured'
    return this.reason === 'canceled' || this.reason === 'unavailable' ? this.reason : 'rejected'
  }
}

const reject = (cause: ProviderCause): RejectedIdentity =>
  new RejectedIdentity('rejected', { explanation: { cause, diagnostics: null } })

/** Errors that providers return when the user declines or closes their page. */
const CANCELED: readonly string[] = [
  'access_denied',
  'user_cancelled_login',
  'user_cancelled_authorize',
  'user_denied',
]

/** The rejection of a sign-in that a provider answers with an error code. */
export function toErrorRejection(error: string): RejectedIdentity {
  if (CANCELED.includes(error)) return new RejectedIdentity('canceled', { code: error })
  const cause = findProviderCause(error) ?? 'other error'
  return new RejectedIdentity('refused', { code: error, explanation: { cause, diagnostics: null } })
}

/** Throws RejectedIdentity for an answer that has no code. */
function requireCode({ code, error }: CallbackAnswer): string {
  if (error !== null) throw toErrorRejection(error)
  if (code === null) throw reject('no code')
  return code
}

/** Converts an error of a request to the provider, or of the verification; returns any other as it is. */
export function toRejection(error: unknown): unknown {
  if (!(error instanceof InvalidInput) && !(error instanceof Unavailable)) return error
  const explanation = findExplanation(error)
  const reason = explanation
    ? PROVIDER_CAUSES[explanation.cause]
    : error instanceof Unavailable
      ? 'unavailable'
      : 'rejected'
  return new RejectedIdentity(reason, { explanation, cause: error })
}

type ProviderSignIn = {
  interaction: Interaction
  attempt: ClaimedAttempt
  /** The provider of the callback URL; null when it does not exist. */
  row: IdentityProvider | null
  answer: CallbackAnswer
  /** The session of the browser. */
  present: readonly BrowserAccount[]
  needsSecondFactor: NeedsSecondFactor
}

/** The name that came with the answer is not signed: it names a user and identifies none. */
function addAppleName(identity: ExternalIdentity, { name }: CallbackAnswer): ExternalIdentity {
  const given = [name?.given_name, name?.family_name].filter(Boolean).join(' ')
  const claims = { ...name, ...(given && { name: given }), ...identity.claims }
  return { ...identity, claims }
}

/**
 * Verifies the answer to an attempt at the provider of the callback URL; returns the provider with the identity.
 * Throws RejectedIdentity.
 */
export async function proveAnswer(
  attempt: ClaimedAttempt,
  row: IdentityProvider | null,
  answer: CallbackAnswer,
): Promise<ProvenSignIn & { row: IdentityProvider }> {
  // The answer of one provider at the callback of another (RFC 9700, section 4.4).
  if (!row || row.id !== attempt.idpId) throw reject('other callback')
  const { nonce, codeVerifier, since } = attempt
  const proven = await proveSignIn(row, {
    code: requireCode(answer),
    iss: answer.iss,
    nonce,
    codeVerifier,
    since: since === null ? null : new Date(since),
  }).catch((error) => {
    throw toRejection(error)
  })
  const identity = row.type === 'apple' ? addAppleName(proven.identity, answer) : proven.identity
  return { ...proven, identity, row }
}

/** Makes a user a member of the organization of a provider, with exactly the roles that it gives. */
async function joinByProvider(
  tx: Tx,
  ctx: Ctx,
  { id: idpId, updatedAt: idpUpdatedAt, organizationId }: IdentityProvider & { organizationId: string },
  userId: string,
  roles: ClaimedRoles | null,
): Promise<void> {
  if (await isEndedByScim(tx, { organizationId, userId })) return
  await addMember(tx, ctx, { organizationId, userId, joinedVia: 'provider' })
  const isSynced =
    roles === null ||
    (await syncProviderRoles(tx, ctx, { userId, organizationId, idpId, idpUpdatedAt, ...roles }))
  if (!isSynced) throw new RejectedIdentity('unknown')
}

async function signInUser(
  ctx: Ctx,
  { interaction, attempt, row: found, answer, present, needsSecondFactor }: ProviderSignIn,
  now: Date,
): Promise<EnteredAccount | null> {
  const proven = await proveAnswer(attempt, found, answer)
  const { identity, row, tokens } = proven
  const key = { idpId: row.id, issuer: identity.issuer, externalId: identity.subject }
  if (!(await isOwnAddress(ctx.db, row, identity.claims))) throw reject('foreign domain')
  const userId = await findOrCreateLinkedUser(ctx, row, identity)
  if (!userId) throw new RejectedIdentity('unknown', { identity, provenAt: row.updatedAt, tokens })
  const signIn = { userId, proof: { method: 'provider' as const, amr: [AMR_FEDERATED, ...proven.amr] } }
  const userCtx = toUserCtx(ctx, { userId, clientId: interaction.request.clientId })
  const email = findVerifiedEmail(row, identity.claims)
  const emailKey = email !== null && (await hasJoinDomains(ctx)) ? toEmailKey(email) : null
  const started = await ctx.db
    .transaction(async (tx) => {
      const user = await lockUserRow(tx, userId)
      const use = { ...key, userId, provenAt: row.updatedAt }
      if (tokens) await keepSignInTokens(tx, use, tokens)
      if (!(await useLink(tx, { ...use, now }))) throw new RejectedIdentity('unknown')
      if (row.organizationId !== null)
        await joinByProvider(
          tx,
          userCtx,
          { ...row, organizationId: row.organizationId },
          userId,
          proven.claimedRoles,
        )
      if (emailKey !== null && user?.emailVerified && user.emailKey === emailKey)
        await joinByDomain(tx, userCtx, { userId, emailKey })
      const provider = {
        idpId: row.id,
        issuer: identity.issuer,
        subject: identity.subject,
        sid: proven.sid,
        idToken: proven.idToken,
      }
      // A locked user is rejected by the start of a session.
      if (user && !user.locked && needsSecondFactor(user, signIn.proof.amr))
        return { proof: toSessionProof(signIn.proof, now), provider, token: null }
      const entered = await enterBrowserSession(tx, userCtx, { present, ...signIn }, now)
      await storeProviderSession(tx, entered.session.id, provider)
      return entered
    })
    .catch((error) => {
      throw error instanceof UserLocked ? new RejectedIdentity('locked', { userId }) : error
    })
  await copyRepeatedClaims(userCtx, row, identity, userId)
  return recordProof(ctx, interaction, { userId, ...started }, present)
}

/**
 * Verifies the answer of a provider and returns the account with the token of its session, always a new one; null when
 * a second factor follows. The user's session in the browser continues, if there is one. Throws
 * RejectedIdentity, after recording why, and RateLimited when the network has presented too many that were not
 * accepted.
 */
export async function signInByProvider(ctx: Ctx, signIn: ProviderSignIn): Promise<EnteredAccount | null> {
  try {
    return await signInUser(ctx, signIn, new Date())
  } catch (error) {
    if (!(error instanceof RejectedIdentity)) throw error
    await recordRejection(ctx, signIn.interaction, signIn.attempt.idpId, error)
    throw error
  }
}

/** Records why a sign-in was not accepted, and counts it. Throws RateLimited. */
export async function recordRejection(
  ctx: Ctx,
  { request: { clientId } }: { request: Pick<Interaction['request'], 'clientId'> },
  idpId: string,
  { reason, userId, code, explanation }: RejectedIdentity,
): Promise<void> {
  await limitUnauthenticated('rejectIdentity', ctx)
  await recordEvents(ctx.db, ctx, [
    createEvent(
      'signin.failed',
      { userId, clientId, idpId },
      {
        method: 'provider',
        reason,
        error: code || undefined,
        cause: explanation?.cause,
        diagnostics: explanation?.diagnostics ?? undefined,
      },
    ),
  ])
}
