import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { z } from 'zod'
import { findTenant } from '../access/tenant-cache.ts'
import { consumeLimit } from '../coordination/rate-limits.ts'
import type { Ctx } from '../core/context.ts'
import { toUserCtx } from '../core/context.ts'
import { newId, randomToken, sha256 } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { AppError, InvalidInput } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { sql } from '../database/db.ts'
import { credentialEnrolled } from '../events/credential-events.ts'
import { createEventRow, wakeReaders } from '../events/log.ts'
import { parseInput, requiredText } from '../schema/input-shapes.ts'
import type { Device } from './credentials.fields.ts'
import { toDeviceRow } from './device.ts'
import {
  consumeEnrollmentChallenge,
  type EnrolleeNames,
  insertCredential,
  selectLiveEnrollment,
  setEnrollmentChallenge,
} from './enrollment.sql.ts'
import { CEREMONY_TIMEOUT_MS, COSE_ALGORITHMS, deriveUserHandle, RP_ID } from './relying-party.ts'

const EnrollmentStart = z.object({ token: requiredText(200) })
const encodedText = requiredText(50_000)
/** The members of RegistrationResponseJSON that are read (WebAuthn Level 3, section 5.1). */
const EnrollmentFinish = EnrollmentStart.extend({
  response: z.object({
    id: requiredText(2000),
    rawId: requiredText(2000),
    type: z.literal('public-key'),
    response: z.object({
      clientDataJSON: encodedText,
      attestationObject: encodedText,
      transports: z.array(requiredText(30)).max(10).optional(),
    }),
  }),
})

/**
 * One error for a token that is unknown, used, invalidated or expired, or whose user is locked or has another
 * address now.
 */
const createExpiredLinkError = () =>
  new AppError(
    'NOT_FOUND',
    410,
    'This link has expired, was used already, or was replaced by a newer one. Ask for a new link.',
  )

/** The name of the account for display. */
const selectAccountLabel = ({ name, email, phoneNumber, preferredUsername }: EnrolleeNames): string =>
  email ?? phoneNumber ?? preferredUsername ?? name ?? 'your account'

/** Finds the user of a valid enrollment token, or null. Counts against the budget of the network. */
export async function findEnrollment(
  ctx: Ctx,
  token: string,
  now = new Date(),
): Promise<{ label: string } | null> {
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  const live = await selectLiveEnrollment(sql, ctx.tenant, sha256(token), now)
  return live && { label: selectAccountLabel(live) }
}

/**
 * Options for navigator.credentials.create with a new challenge. They require a passkey: discoverable and
 * with user verification, because it is the only factor of a sign-in. Throws InvalidInput, RateLimited and
 * NOT_FOUND (410).
 */
export async function startEnrollment(
  ctx: Ctx,
  input: unknown,
  now = new Date(),
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { token } = parseInput(EnrollmentStart, input)
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  const challenge = randomToken()
  const live = await setEnrollmentChallenge(sql, ctx.tenant, sha256(token), challenge, now)
  if (!live) throw createExpiredLinkError()
  const { generateRegistrationOptions } = await import('@simplewebauthn/server') // loaded on first use
  const tenantName = (await findTenant(ctx.tenant))?.friendlyName ?? ctx.tenant
  const label = selectAccountLabel(live)
  return generateRegistrationOptions({
    rpName: tenantName,
    rpID: RP_ID,
    userID: deriveUserHandle(ctx.tenant, live.userId),
    // All tenants share the RP ID, so the name shows to which tenant a passkey belongs.
    userName: `${label} (${tenantName})`,
    userDisplayName: `${live.name ?? label} (${tenantName})`,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    timeout: CEREMONY_TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: live.credentials,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: COSE_ALGORITHMS,
  })
}

/** The error for a response that is not accepted. The log contains the reason. */
const createRejectedCredentialError = (cause?: unknown) => {
  if (cause instanceof Error) log.info({ reason: cause.message.slice(0, 200) }, 'an enrollment was rejected')
  return new InvalidInput(
    [{ field: 'response', description: 'is not a response to the current challenge' }],
    'The response of your device was not accepted. Try again.',
  )
}

/** The challenge that a response claims to answer. */
function readChallenge(clientDataJSON: string): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as {
      challenge?: unknown
    }
    if (typeof challenge === 'string') return challenge
  } catch (error) {
    throw createRejectedCredentialError(error)
  }
  throw createRejectedCredentialError()
}

/**
 * Rejects attestation certificates: none is requested, and verifying one would fetch the revocation list that
 * the certificate names. Browsers remove them; a self-attestation has none.
 */
async function requireNoCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')))
  const fmt = decoded.get('fmt')
  if (fmt !== 'none' && (fmt !== 'packed' || decoded.get('attStmt').get('x5c')))
    throw new Error(`attestation of format ${fmt}`)
}

async function verifyAttestation(response: RegistrationResponseJSON, challenge: string) {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  try {
    await requireNoCertificates(response.response.attestationObject)
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: env.baseUrl,
      expectedRPID: RP_ID,
      requireUserVerification: true,
      supportedAlgorithmIDs: COSE_ALGORITHMS,
    })
    if (registrationInfo) return registrationInfo
  } catch (error) {
    throw createRejectedCredentialError(error)
  }
  throw createRejectedCredentialError()
}

/**
 * Verifies a registration response (WebAuthn Level 3, section 7.1) and stores the credential; the token is
 * marked as used in the same statement. A response is valid for the current challenge only, once. Throws
 * InvalidInput, RateLimited, Conflict (the credential is already registered) and NOT_FOUND (410).
 */
export async function finishEnrollment(
  ctx: Ctx,
  input: unknown,
  device: Device,
  now = new Date(),
): Promise<{ credentialId: string }> {
  const { token, response } = parseInput(EnrollmentFinish, input)
  await consumeLimit('enrollCredential', ctx.tenant, ctx.ip)
  const tokenHash = sha256(token)
  const challenge = readChallenge(response.response.clientDataJSON)
  const userId = await consumeEnrollmentChallenge(sql, ctx.tenant, tokenHash, challenge, now)
  if (!userId)
    throw (await selectLiveEnrollment(sql, ctx.tenant, tokenHash, now))
      ? createRejectedCredentialError()
      : createExpiredLinkError()
  const { credential, credentialDeviceType, credentialBackedUp } = await verifyAttestation(
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
      externalId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      signCount: credential.counter,
      transports: credential.transports ?? [],
      backupEligible: credentialDeviceType === 'multiDevice',
      backedUp: credentialBackedUp,
      device: toDeviceRow(device),
    },
    createEventRow(toUserCtx(ctx, { userId }), credentialEnrolled({ id, userId })),
  )
  if (!isStored) throw createExpiredLinkError()
  wakeReaders(ctx.tenant)
  return { credentialId: id }
}
