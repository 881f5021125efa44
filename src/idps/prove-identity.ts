import { metadata, requiredText } from '../fields.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { openSecrets } from './idp-secrets.ts'
import type { LinkProof } from './idp-users.fields.ts'
import { type Provider, providerFault, providerOf, refusedProof } from './provider.ts'
import { readUserInfo, verifyAccessToken } from './provider-access-token.ts'
import { exchangeCode } from './provider-code.ts'
import { verifyIdToken } from './provider-id-token.ts'

/** Who somebody is at a provider, as the provider says. Issuer and subject are the key; an e-mail address never is. */
export type ExternalIdentity = {
  /** '' for a provider that has no issuer. */
  issuer: string
  subject: string
  /** What else the provider says of the person, unverified. */
  claims: Record<string, unknown>
}

/** Claims that are about the token, not about the person. */
const PROTOCOL_CLAIMS = new Set([
  'iss',
  'aud',
  'azp',
  'exp',
  'iat',
  'nbf',
  'jti',
  'nonce',
  'at_hash',
  'c_hash',
  's_hash',
  'auth_time',
  'acr',
  'amr',
  'sid',
  'events',
])

/** What is kept of the claims; nothing of what cannot be stored (fields.ts says what can). */
function claimsAbout(claims: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(claims).filter(([name]) => !PROTOCOL_CLAIMS.has(name)))
  return metadata.safeParse(kept).data ?? {}
}

/** OIDC Core, section 2. */
const subjectShape = requiredText(255)

/** The identifier among the claims: text, or a number as some providers have it. */
function subjectOf(names: readonly string[], claims: Record<string, unknown>): string | null {
  const value = names.map((name) => claims[name]).find((each) => each !== undefined && each !== null)
  return subjectShape.safeParse(Number.isSafeInteger(value) ? String(value) : value).data ?? null
}

type FieldName = 'idToken' | 'accessToken' | 'code'
function identityOf(
  provider: Provider,
  field: FieldName,
  claims: Record<string, unknown>,
  { issuer, names }: { issuer: string; names: readonly string[] },
): ExternalIdentity {
  const subject = subjectOf(names, claims)
  if (!subject) throw providerFault(`${provider.row.id} names nobody for the ${field}`)
  return { issuer, subject, claims: claimsAbout(claims) }
}

async function fromIdToken(provider: Provider, field: FieldName, token: string): Promise<ExternalIdentity> {
  const claims = await verifyIdToken(provider, token, field)
  // One issuer has one name, whatever alias the token has; where there are many, the token's own was checked.
  return identityOf(provider, field, claims, {
    issuer: provider.issuer ?? String(claims.iss),
    names: ['sub'],
  })
}

function fromUserInfo(
  provider: Provider,
  field: FieldName,
  claims: Record<string, unknown>,
): ExternalIdentity {
  if (provider.issuer === null)
    throw refusedProof(field, 'does not tell the organisation: this provider needs an ID token')
  return identityOf(provider, field, claims, { issuer: provider.issuer, names: provider.type.subject })
}

/**
 * Asks a provider whom a proof is of: an ID token is checked against its keys, an access token by using it, a code by
 * redeeming it. Call it outside any transaction: it may take 10 s for each of up to four requests. Throws InvalidInput about
 * the proof's field, and Unavailable when the provider cannot be asked.
 */
export async function proveIdentity(row: IdentityProvider, proof: LinkProof): Promise<ExternalIdentity> {
  const provider = providerOf(openSecrets(row))
  if (proof.idToken) return fromIdToken(provider, 'idToken', proof.idToken)
  if (proof.accessToken)
    return fromUserInfo(provider, 'accessToken', await verifyAccessToken(provider, proof.accessToken))
  const { idToken, accessToken } = await exchangeCode(provider, { ...proof, code: proof.code ?? '' })
  if (idToken && provider.issuer !== '') return fromIdToken(provider, 'code', idToken)
  if (!accessToken) throw providerFault(`${provider.row.id} answered a code without a token`)
  return fromUserInfo(provider, 'code', await readUserInfo(provider, accessToken))
}
