import { parseScopeList } from '../core/scopes.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { buildCallbackUrl } from './callback-url.ts'
import {
  type ExternalIdentity,
  requireProvider,
  toTokenIdentity,
  toUserInfoIdentity,
} from './external-identity.ts'
import { type ProviderTokens, selectKeptTokens } from './kept-tokens.ts'
import type { Provider } from './provider.ts'
import { readUserInfo } from './provider-access-token.ts'
import { redeemCode } from './provider-code.ts'
import { withinSignInDeadline } from './provider-deadline.ts'
import { sealIdToken } from './provider-end-session.ts'
import { rejectProof } from './provider-fetch.ts'
import { verifyIdToken } from './provider-id-token.ts'
import { findMetadata } from './provider-metadata.ts'
import { listTrustedAmr } from './trusted-authentication.ts'

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
    throw rejectProof('code', 'came without the parameter iss, which the provider sends')
  if (iss !== null && provider.issuer && !provider.isIssuer({ iss }))
    throw rejectProof('code', 'came from another issuer')
}

/**
 * The claims of the ID token, with those of the userinfo endpoint if the token has no e-mail address. Throws
 * InvalidInput when the two are about different users (OIDC Core, section 5.3.2).
 */
async function addUserInfo(
  provider: Provider,
  { claims, accessToken }: { claims: Record<string, unknown>; accessToken: string },
): Promise<Record<string, unknown>> {
  const metadata = claims.email === undefined ? await findMetadata(provider) : null
  if (!metadata?.userinfo_endpoint && !(claims.email === undefined && provider.row.userInfoEndpoint))
    return claims
  const info = await readUserInfo(provider, accessToken)
  if (info.sub !== claims.sub) throw rejectProof('code', 'is about another user than the userinfo response')
  return { ...info, ...claims }
}

/** The provider's clock may differ from this one. */
const CLOCK_TOLERANCE_SECONDS = 30

/** Throws InvalidInput for an older sign-in than was asked for. Some providers do not say when it was. */
function assertRecent({ auth_time: time }: Record<string, unknown>, since: Date | null): void {
  if (since === null || typeof time !== 'number') return
  if (time + CLOCK_TOLERANCE_SECONDS < since.getTime() / 1000)
    throw rejectProof('code', 'is about an earlier sign-in')
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
}

const MAX_SID_CHARACTERS = 255
const readSid = ({ sid }: Record<string, unknown>): string | null =>
  typeof sid === 'string' && sid !== '' && sid.length <= MAX_SID_CHARACTERS ? sid : null

async function redeemAnswer(row: IdentityProvider, answer: SignInAnswer): Promise<ProvenSignIn> {
  const provider = requireProvider(row)
  await assertResponseIssuer(provider, answer.iss)
  const { code, nonce, codeVerifier } = answer
  const redirectUri = buildCallbackUrl(row.tenantId, row.id)
  const now = new Date()
  const redeemed = await redeemCode(provider, { code, redirectUri, codeVerifier })
  const { idToken, accessToken } = redeemed
  const requested = parseScopeList(row.scopes ?? provider.type.defaultScopes ?? '')
  const tokens = selectKeptTokens(row, redeemed, requested, now)
  if (!provider.type.idToken)
    return {
      identity: toUserInfoIdentity(provider, 'code', await readUserInfo(provider, accessToken)),
      sid: null,
      amr: [],
      idToken: null,
      tokens,
    }
  if (!idToken) throw rejectProof('code', 'was redeemed without an ID token')
  const claims = await verifyIdToken(provider, idToken, 'code')
  if (claims.nonce !== nonce) throw rejectProof('code', 'was issued for another sign-in')
  assertRecent(claims, answer.since)
  const identity = toTokenIdentity(provider, 'code', await addUserInfo(provider, { claims, accessToken }))
  return {
    identity,
    sid: readSid(claims),
    amr: listTrustedAmr(row, claims),
    idToken: row.upstreamLogout ? sealIdToken(row.tenantId, idToken) : null,
    tokens,
  }
}

/**
 * Redeems the code of a sign-in and returns the identity: issuer, ID token, nonce and subject are verified
 * (OIDC Core, section 3.1.3.7; RFC 9700, section 4). Throws InvalidInput when something does not verify, and
 * Unavailable when the provider does not answer within 3 s.
 */
export const proveSignIn = (row: IdentityProvider, answer: SignInAnswer): Promise<ProvenSignIn> =>
  withinSignInDeadline(() => redeemAnswer(row, answer))
