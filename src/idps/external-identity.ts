import type { IdentityProvider } from '../generated/prisma/client.ts'
import { requiredText } from '../schema/input-shapes.ts'
import { type Claims, mergeClaims, selectUserClaims } from './answers/claims.ts'
import { readUserInfo } from './answers/userinfo.ts'
import { listCopiedClaims } from './entry-policy.ts'
import type { LinkProof } from './idp-users.fields.ts'
import { listMissingFields } from './missing-fields.ts'
import { describeExpired } from './provider/apple-secret.ts'
import { type Provider, toProvider } from './provider/provider.ts'
import { verifyAccessToken } from './provider/provider-access-token.ts'
import { redeemCode } from './provider/provider-code.ts'
import { rejectProof, toUnavailable } from './provider/provider-errors.ts'
import { verifyIdToken } from './provider/provider-id-token.ts'
import { unsealIdpSecrets } from './secrets/idp-secrets.ts'
import { type ProviderTokens, selectKeptTokens } from './tokens/kept-tokens.ts'

/**
 * An identity at a provider, as the provider asserts it. Its key is issuer and subject, never an e-mail
 * address.
 */
export type ExternalIdentity = {
  /** '' for a provider that has no issuer. */
  issuer: string
  subject: string
  /** Other claims of the provider, unverified. */
  claims: Claims
}

/** OIDC Core, section 2. */
const subjectShape = requiredText(255)

/** The identifier claim: text, or a number as some providers return it. The first that can be one counts. */
function findSubject(names: readonly string[], claims: Claims): string | null {
  const subjects = names.map((name) => {
    const value = claims[name]
    return subjectShape.safeParse(Number.isSafeInteger(value) ? String(value) : value).data
  })
  return subjects.find((each) => each !== undefined) ?? null
}

/** The claims that a policy and this folder use: they are kept before others. */
const listNeededClaims = ({ row, type }: Provider): string[] => [
  ...type.subject,
  'email',
  'email_verified',
  ...listCopiedClaims(row),
]

type ProofField = 'idToken' | 'accessToken' | 'code'
function toExternalIdentity(
  provider: Provider,
  field: ProofField,
  claims: Claims,
  { issuer, names }: { issuer: string; names: readonly string[] },
): ExternalIdentity {
  const subject = findSubject(names, claims)
  if (!subject)
    throw toUnavailable('no subject', `the answer for the ${field} has no usable ${names.join(' or ')}`)
  return { issuer, subject, claims: selectUserClaims(mergeClaims(claims), listNeededClaims(provider)) }
}

async function verifyIdTokenIdentity(
  provider: Provider,
  field: ProofField,
  token: string,
): Promise<ExternalIdentity> {
  return toTokenIdentity(provider, field, await verifyIdToken(provider, token, field))
}

/** The identity of verified claims of an ID token. */
export function toTokenIdentity(provider: Provider, field: ProofField, claims: Claims): ExternalIdentity {
  // A single issuer is stored under one name, also for aliases; with several issuers the token's own was
  // verified.
  return toExternalIdentity(provider, field, claims, {
    issuer: provider.issuer ?? String(claims.iss),
    names: ['sub'],
  })
}

/** The identity of claims at the userinfo endpoint. Throws InvalidInput where they do not name the issuer. */
export function toUserInfoIdentity(provider: Provider, field: ProofField, claims: Claims): ExternalIdentity {
  if (provider.issuer === null)
    throw rejectProof(
      field,
      'does not identify the organization: this provider requires an ID token',
      'no ID token',
    )
  return toExternalIdentity(provider, field, claims, {
    issuer: provider.issuer,
    names: provider.type.subject,
  })
}

/** The provider of a row. Throws InvalidInput about `idpId` while it lacks fields: then it proves nothing. */
export function requireProvider(row: IdentityProvider): Provider {
  const missing = listMissingFields(row)
  if (missing.length > 0)
    throw rejectProof(
      'idpId',
      `is a provider that still needs ${missing.join(', ')}`,
      missing.includes('clientSecret') ? describeExpired(row.clientSecretExpiresAt) : 'fields missing',
      missing.join(', '),
    )
  return toProvider(unsealIdpSecrets(row))
}

/** A proven identity, and the tokens that the provider issued with it, if it keeps them. */
type Proof = { identity: ExternalIdentity; tokens: ProviderTokens | null }

/** Redeems a code. The application that requested it chose the scopes. */
async function proveByCode(provider: Provider, proof: LinkProof): Promise<Proof> {
  const now = new Date()
  const answer = await redeemCode(provider, { ...proof, code: proof.code ?? '' })
  const identity = answer.idToken
    ? await verifyIdTokenIdentity(provider, 'code', answer.idToken)
    : toUserInfoIdentity(provider, 'code', await readUserInfo(provider, answer.accessToken))
  return { identity, tokens: selectKeptTokens(provider.row, answer, [], now) }
}

/**
 * Verifies a proof with a provider and returns the identity: an ID token by its keys, an access token by using
 * it, a code by redeeming it. A provider that lacks fields proves nothing. Call it outside any transaction,
 * because each of up to four requests may take 10 s. Throws InvalidInput about the field of the proof, and
 * Unavailable when the provider cannot be reached.
 */
export async function proveIdentity(row: IdentityProvider, proof: LinkProof): Promise<Proof> {
  const provider = requireProvider(row)
  if (proof.idToken)
    return { identity: await verifyIdTokenIdentity(provider, 'idToken', proof.idToken), tokens: null }
  if (!proof.accessToken) return proveByCode(provider, proof)
  const claims = await verifyAccessToken(provider, proof.accessToken)
  return { identity: toUserInfoIdentity(provider, 'accessToken', claims), tokens: null }
}
