import type { PublicKeyCredentialCreationOptionsJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import * as z from 'zod'
import { findTenant } from '../../access/tenant-cache.ts'
import { newId } from '../../core/crypto.ts'
import { InvalidInput } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { requiredText } from '../../schema/input-shapes.ts'
import {
  CEREMONY_TIMEOUT_MS,
  COSE_ALGORITHMS,
  deriveUserHandle,
  REGISTRATION_ORIGINS,
  RP_ID,
} from './relying-party.ts'

const encodedText = requiredText(50_000)
/** The members of RegistrationResponseJSON that are read (WebAuthn Level 3, section 5.1). */
export const RegistrationResponse = z.object({
  id: requiredText(2000),
  rawId: requiredText(2000),
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: encodedText,
    attestationObject: encodedText,
    transports: z.array(requiredText(30)).max(10).optional(),
  }),
})

type RegistrationResponse = z.output<typeof RegistrationResponse>

/** Names of a user, shown to them. */
export type AccountNames = {
  name: string | null
  email: string | null
  phoneNumber: string | null
  preferredUsername?: string | null
}

/** The name of the account for display. */
export const selectAccountLabel = ({ name, email, phoneNumber, preferredUsername }: AccountNames): string =>
  email ?? phoneNumber ?? preferredUsername ?? name ?? 'your account'

type Registration = {
  user: AccountNames & { userId: string }
  /** base64url. */
  challenge: string
  /** The credentials that the user has. */
  credentials: { id: string; transports: string[] }[]
}

/**
 * Options for navigator.credentials.create. They require a passkey: discoverable and with user verification,
 * because it is the only factor of a sign-in.
 */
export async function buildRegistrationOptions(
  tenant: string,
  { user, challenge, credentials }: Registration,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server') // loaded on first use
  const tenantName = (await findTenant(tenant))?.friendlyName ?? tenant
  const label = selectAccountLabel(user)
  return generateRegistrationOptions({
    rpName: tenantName,
    rpID: RP_ID,
    userID: deriveUserHandle(tenant, user.userId),
    // All tenants share the RP ID, so the name shows to which tenant a passkey belongs.
    userName: `${label} (${tenantName})`,
    userDisplayName: `${user.name ?? label} (${tenantName})`,
    challenge: new Uint8Array(Buffer.from(challenge, 'base64url')),
    timeout: CEREMONY_TIMEOUT_MS,
    attestationType: 'none',
    excludeCredentials: credentials,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: COSE_ALGORITHMS,
  })
}

/** The error for a response that is not accepted. The log contains the reason. */
export const createRejectedCredentialError = (cause?: unknown) => {
  if (cause instanceof Error) log.info({ reason: cause.message.slice(0, 200) }, 'an enrollment was rejected')
  return new InvalidInput(
    [{ field: 'response', description: 'is not a response to the current challenge' }],
    'The response of your device was not accepted. Try again.',
  )
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
      expectedOrigin: [...REGISTRATION_ORIGINS],
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

/** Parses a registration response, given as JSON. Throws InvalidInput. */
export function parseRegistration(text: string): RegistrationResponse {
  try {
    return RegistrationResponse.parse(JSON.parse(text))
  } catch {
    throw createRejectedCredentialError()
  }
}

/**
 * Verifies a registration response (WebAuthn Level 3, section 7.1) to a challenge, and returns the credential
 * to store. Throws InvalidInput.
 */
export async function verifyRegistration(response: RegistrationResponse, challenge: string) {
  const { credential, credentialDeviceType, credentialBackedUp, aaguid } = await verifyAttestation(
    { ...response, clientExtensionResults: {} } as RegistrationResponseJSON,
    challenge,
  )
  return {
    id: newId('cred'),
    externalId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    signCount: credential.counter,
    transports: credential.transports ?? [],
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
    aaguid,
  }
}

/** A passkey as it is stored, without its device. */
export type VerifiedPasskey = Awaited<ReturnType<typeof verifyRegistration>>
