import { log } from '../core/log.ts'
import { parseScopeList } from '../core/scopes.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { type Claims, isGiven, mergeClaims, readVerification } from './answers/claims.ts'
import { readUserInfo } from './answers/userinfo.ts'
import { buildCallbackUrl } from './callback-url.ts'
import { type ClaimedRoles, lacksRoleClaim, selectClaimedRoles } from './claimed-roles.ts'
import { listCopiedClaims } from './entry-policy.ts'
import {
  type ExternalIdentity,
  requireProvider,
  toTokenIdentity,
  toUserInfoIdentity,
} from './external-identity.ts'
import type { Provider } from './provider/provider.ts'
import { redeemCode } from './provider/provider-code.ts'
import { SIGN_IN_DEADLINE_MS, withinSignInDeadline } from './provider/provider-deadline.ts'
import { sealIdToken } from './provider/provider-end-session.ts'
import { findExplanation, rejectProof, toUnavailable } from './provider/provider-errors.ts'
import { verifyIdToken } from './provider/provider-id-token.ts'
import { findEndpoint, findMetadata } from './provider/provider-metadata.ts'
import type { TokenAnswer } from './provider/provider-token-request.ts'
import { listTrustedAmr } from './provider/trusted-authentication.ts'
import { type ProviderTokens, selectKeptTokens } from './tokens/kept-tokens.ts'

/** The answer of a provider at the callback, and the values that it is bound to. */
export type SignInAnswer = {
  code: string
  /** The parameter `iss` (RFC 9207); null without it. */
  iss: string | null
  nonce: string
  codeVerifier: string
  /** The earliest acceptable sign-in at the provider; null for any. */
  since: Date | null
}

/**
 * Throws InvalidInput for an answer that another issuer sent (RFC 9207, section 2.4). A provider without an
 * issuer is told from others by its callback URL.
 */
async function assertResponseIssuer(provider: Provider, iss: string | null): Promise<void> {
  const metadata = await findMetadata(provider)
  if (iss === null && metadata?.authorization_response_iss_parameter_supported)
    throw rejectProof('code', 'came without the parameter iss, which the provider sends', 'no iss parameter')
  if (iss !== null && provider.issuer && !provider.isIssuer({ iss }))
    throw rejectProof(
      'code',
      'came from another issuer',
      'issuer of another provider',
      `the parameter iss is ${iss}`,
    )
}

/** Whether the ID token lacks the address, its verification, or a claim that is copied or gives roles. */
const isIncomplete = (row: IdentityProvider, claims: Claims): boolean =>
  readVerification(claims) === null ||
  lacksRoleClaim(row, claims) ||
  ['email', ...listCopiedClaims(row)].some((name) => !isGiven(claims[name]))

/**
 * The claims at the userinfo endpoint about the subject of an ID token; null where the provider has no such endpoint or
 * issued no access token.
 * Those about another subject are not used (OIDC Core, section 5.3.2). Throws InvalidInput and Unavailable.
 */
async function findUserInfo(
  provider: Provider,
  { claims, redeemed }: { claims: Claims; redeemed: TokenAnswer },
): Promise<Claims | null> {
  if (!(await findEndpoint(provider, 'userInfoEndpoint'))) return null
  // The user may have a part in its length: the answer that it would get may deny the address.
  if (redeemed.hasUnusableAccessToken)
    throw toUnavailable('no access token', 'the access token is too long, or is not text')
  if (!redeemed.hasAccessToken) return null
  const info = await readUserInfo(provider, redeemed.accessToken)
  // Some providers write a number.
  if (String(info.sub) !== String(claims.sub))
    throw toUnavailable('userinfo not verified', 'the userinfo response is about another subject')
  return info
}

/**
 * The claims of the ID token, with those of the userinfo endpoint where it lacks some. The ID token has proven the user:
 * without a usable answer, only those claims are missing. An address whose verification may be there is not verified
 * then.
 */
async function addUserInfo(
  provider: Provider,
  proven: { claims: Claims; redeemed: TokenAnswer; remainingMs: number },
): Promise<Claims> {
  const { row } = provider
  const { claims, remainingMs } = proven
  if (!isIncomplete(row, claims)) return claims
  try {
    const info = await withinSignInDeadline(() => findUserInfo(provider, proven), remainingMs)
    return info ? mergeClaims(claims, info) : claims
  } catch (error) {
    if (!findExplanation(error)) throw error
    log.warn(
      { tenant: row.tenantId, idpId: row.id, err: error },
      'an identity provider returned no usable userinfo response; the sign-in continues without it',
    )
    return { ...claims, email_verified: readVerification(claims) ?? false }
  }
}

/** The provider's clock may differ from this one. */
const CLOCK_TOLERANCE_SECONDS = 30

/** Throws InvalidInput for an older sign-in than was asked for. Some providers do not say when it was. */
function assertRecent({ auth_time: time }: Claims, since: Date | null): void {
  if (since === null || !isGiven(time)) return
  const late = since.getTime() / 1000 - Number(time)
  if (!(late <= CLOCK_TOLERANCE_SECONDS))
    throw rejectProof(
      'code',
      'is about an earlier sign-in',
      'earlier sign-in',
      `auth_time is ${Math.round(late)} s before the request`,
    )
}

/**
 * Throws InvalidInput for an ID token that was issued to another attempt. One without a nonce is accepted only from a
 * provider of which an administrator says so.
 */
function assertNonce({ nonce: value }: Claims, nonce: string, isExpected: boolean): void {
  if (!isGiven(value) && !isExpected) return
  if (!isGiven(value)) throw rejectProof('code', 'was issued without the nonce', 'nonce missing')
  if (value !== nonce) throw rejectProof('code', 'was issued for another sign-in', 'nonce')
}

/** An identity that a sign-in at a provider proved. */
export type ProvenSignIn = {
  identity: ExternalIdentity
  /** The session at the provider (OpenID Connect Back-Channel Logout 1.0, section 2.1); null if it has no id. */
  sid: string | null
  /** How the user authenticated there, as far as the policy trusts it (RFC 8176). */
  amr: string[]
  /** The ID token for the logout there, encrypted; null unless the policy has it. */
  idToken: string | null
  /** The tokens that the provider issued; null unless it keeps them. */
  tokens: ProviderTokens | null
  /** The roles that the provider gives a member; null without a mapping. */
  claimedRoles: ClaimedRoles | null
}

const MAX_SID_CHARACTERS = 255
const readSid = ({ sid }: Claims): string | null =>
  typeof sid === 'string' && sid !== '' && sid.length <= MAX_SID_CHARACTERS ? sid : null

/** What a redeemed code proves: verified claims of an ID token, or those of the userinfo endpoint of another provider. */
type Redeemed = { provider: Provider; redeemed: TokenAnswer; now: Date } & (
  | { claims: Claims; idToken: string }
  | { info: Claims }
)

async function redeemAnswer(row: IdentityProvider, answer: SignInAnswer): Promise<Redeemed> {
  const provider = requireProvider(row)
  await assertResponseIssuer(provider, answer.iss)
  const { code, nonce } = answer
  const codeVerifier = row.usePkce ? answer.codeVerifier : null
  const redirectUri = buildCallbackUrl(row.tenantId, row.id)
  const now = new Date()
  const redeemed = await redeemCode(provider, { code, redirectUri, codeVerifier })
  const { idToken, accessToken } = redeemed
  if (!provider.type.idToken)
    return { provider, redeemed, now, info: await readUserInfo(provider, accessToken) }
  if (!idToken) throw rejectProof('code', 'was redeemed without an ID token', 'no ID token')
  const claims = await verifyIdToken(provider, idToken, 'code')
  assertNonce(claims, nonce, row.expectNonce)
  assertRecent(claims, answer.since)
  return { provider, redeemed, now, claims, idToken }
}

/**
 * Redeems the code of a sign-in and returns the identity: issuer, ID token, nonce and subject are verified
 * (OIDC Core, section 3.1.3.7; RFC 9700, section 4). Throws InvalidInput when something does not verify, and
 * Unavailable when the provider does not answer within 3 s.
 */
export async function proveSignIn(row: IdentityProvider, answer: SignInAnswer): Promise<ProvenSignIn> {
  const startedAt = performance.now()
  const proof = await withinSignInDeadline(() => redeemAnswer(row, answer))
  const { provider, redeemed, now } = proof
  const requested = parseScopeList(row.scopes ?? provider.type.defaultScopes ?? '')
  const tokens = selectKeptTokens(row, redeemed, requested, now)
  if ('info' in proof)
    return {
      identity: toUserInfoIdentity(provider, 'code', proof.info),
      sid: null,
      amr: [],
      idToken: null,
      tokens,
      claimedRoles: selectClaimedRoles(row, proof.info),
    }
  const { claims, idToken } = proof
  const remainingMs = SIGN_IN_DEADLINE_MS - (performance.now() - startedAt)
  const merged = await addUserInfo(provider, { claims, redeemed, remainingMs })
  return {
    identity: toTokenIdentity(provider, 'code', merged),
    sid: readSid(claims),
    amr: listTrustedAmr(row, claims),
    idToken: row.upstreamLogout ? sealIdToken(row.tenantId, idToken) : null,
    tokens,
    claimedRoles: selectClaimedRoles(row, merged),
  }
}
