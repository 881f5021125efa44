import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { z } from 'zod'
import { newId, randomToken, sha256 } from '../crypto.ts'
import { asPerson, type Ctx } from '../ctx.ts'
import { sql } from '../db.ts'
import { env } from '../env.ts'
import { AppError, InvalidInput } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import { parse, requiredText } from '../fields.ts'
import { spend } from '../limits.ts'
import { log } from '../log.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import type { Device } from './credentials.fields.ts'
import { toDeviceRow } from './device.ts'
import {
  type EnrolleeNames,
  insertCredential,
  selectLive,
  setChallenge,
  takeChallenge,
} from './enrolment.sql.ts'

/** What all tenants' credentials are bound to (WebAuthn Level 3, section 5.4.2): one host, hence one id. */
const RP_ID = new URL(env.baseUrl).hostname
/** ES256, EdDSA and RS256, whatever else the runtime of this process may know: another one verifies the signatures. */
const ALGORITHMS = [-7, -8, -257]
/** A person looks for their security key, or takes their phone out. */
const CEREMONY_LIMIT_MS = 300_000

const Token = z.object({ token: requiredText(200) })
const text = requiredText(50_000)
/** RegistrationResponseJSON (WebAuthn Level 3, section 5.1): what of it is read. */
const Enrolment = Token.extend({
  response: z.object({
    id: requiredText(2000),
    rawId: requiredText(2000),
    type: z.literal('public-key'),
    response: z.object({
      clientDataJSON: text,
      attestationObject: text,
      transports: z.array(requiredText(30)).max(10).optional(),
    }),
  }),
})

/** One answer for a token that is unknown, used, voided, expired, or whose user is locked or has another address now. */
const gone = () =>
  new AppError(
    'NOT_FOUND',
    410,
    'This link has expired, was used already, or was replaced by a newer one. Ask for a new link.',
  )

/** What people know the account by. */
const labelOf = ({ name, email, phoneNumber, preferredUsername }: EnrolleeNames): string =>
  email ?? phoneNumber ?? preferredUsername ?? name ?? 'your account'

/** Tells whose credential a token enrols; null unless it may be used. Spends the network's budget. */
export async function findEnrolment(
  ctx: Ctx,
  token: string,
  now = new Date(),
): Promise<{ label: string } | null> {
  await spend('enrolCredential', ctx.tenant, ctx.ip)
  const live = await selectLive(sql, ctx.tenant, sha256(token), now)
  return live && { label: labelOf(live) }
}

/** The same person has another handle in another tenant, so that neither tenant's passkey replaces the other's. */
const handleOf = (tenant: string, userId: string) => new Uint8Array(sha256(`webauthn:${tenant}:${userId}`))

/**
 * Options for navigator.credentials.create, with a new challenge. What they demand is a passkey: found without being
 * named, and unlocked by the person, as it will be all that a sign-in asks for. Throws InvalidInput, RateLimited and
 * NOT_FOUND (410).
 */
export async function startEnrolment(
  ctx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { token } = parse(Token, input)
  await spend('enrolCredential', ctx.tenant, ctx.ip)
  const challenge = randomToken()
  const live = await setChallenge(sql, ctx.tenant, sha256(token), challenge, now)
  if (!live) throw gone()
  const { generateRegistrationOptions } = await import('@simplewebauthn/server') // not needed to start
  const tenantName = (await findTenant(ctx.tenant))?.friendlyName ?? ctx.tenant
  const label = labelOf(live)
  return generateRegistrationOptions({
    rpName: tenantName,
    rpID: RP_ID,
    userID: handleOf(ctx.tenant, live.userId),
    // All tenants share the RP ID: the person must see which one a passkey is for.
    userName: `${label} (${tenantName})`,
    userDisplayName: `${live.name ?? label} (${tenantName})`,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    timeout: CEREMONY_LIMIT_MS,
    attestationType: 'none',
    excludeCredentials: live.credentials,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  })
}

/** An answer that cannot be accepted. The log says why, for authenticators that nobody has heard of. */
const refused = (cause?: unknown) => {
  if (cause instanceof Error) log.info({ reason: cause.message.slice(0, 200) }, 'an enrolment was refused')
  return new InvalidInput(
    [{ field: 'response', description: 'is not an answer to the last challenge' }],
    'Your device’s answer could not be accepted. Try again.',
  )
}

/** The challenge that an answer says it is to. */
function challengeIn(clientDataJSON: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as {
      challenge?: unknown
    }
    if (typeof challenge === 'string') return challenge
  } catch (error) {
    throw refused(error)
  }
  throw refused()
}

/**
 * No certificate is looked at: none was asked for, and checking one means fetching the revocation list that it names,
 * which is whatever its maker wrote there. Browsers take them out; a self-attestation has none.
 */
async function requireNoCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')))
  const fmt = decoded.get('fmt')
  if (fmt !== 'none' && (fmt !== 'packed' || decoded.get('attStmt').get('x5c')))
    throw new Error(`attestation of format ${fmt}`)
}

async function verify(response: RegistrationResponseJSON, challenge: string) {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  try {
    await requireNoCertificates(response.response.attestationObject)
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: env.baseUrl,
      expectedRPID: RP_ID,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (registrationInfo) return registrationInfo.credential
  } catch (error) {
    throw refused(error)
  }
  throw refused()
}

/**
 * Verifies what an authenticator made (WebAuthn Level 3, section 7.1) and stores it; the token is used up in the same
 * statement. An answer is good for the last challenge only, and that for one answer. Throws InvalidInput, RateLimited,
 * Conflict (a credential that the tenant knows already) and NOT_FOUND (410).
 */
export async function finishEnrolment(
  ctx: Ctx,
  input: unknown,
  device: Device,
  now = new Date(),
): Promise<{ credentialId: string }> {
  const { token, response } = parse(Enrolment, input)
  await spend('enrolCredential', ctx.tenant, ctx.ip)
  const tokenHash = sha256(token)
  const challenge = challengeIn(response.response.clientDataJSON)
  const userId = await takeChallenge(sql, ctx.tenant, tokenHash, challenge, now)
  if (!userId) throw (await selectLive(sql, ctx.tenant, tokenHash, now)) ? refused() : gone()
  const made = await verify(
    { ...response, clientExtensionResults: {} } as RegistrationResponseJSON,
    challenge,
  )
  const id = newId('cred')
  const isStored = await insertCredential(
    sql,
    ctx.tenant,
    { tokenHash, userId, now },
    {
      id,
      externalId: made.id,
      publicKey: Buffer.from(made.publicKey).toString('base64url'),
      signCount: made.counter,
      transports: made.transports ?? [],
      device: toDeviceRow(device),
    },
    toEventRow(asPerson(ctx, { userId }), { type: 'credential.enrolled' }),
  )
  if (!isStored) throw gone()
  wakeReaders(ctx.tenant)
  return { credentialId: id }
}
