import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url')
const sha256 = (text: string) => createHash('sha256').update(text).digest()

type Over = {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  /** User present 1, user verified 4, attested credential data 64. */
  flags?: number
  credentialId?: Buffer
  /** 16 bytes. */
  aaguid?: Buffer
  fmt?: string
  attStmt?: Map<string, unknown>
}

/**
 * What a browser and its authenticator answer to the options of an enrollment (WebAuthn Level 3, section
 * 6.5): a new ES256 key, without attestation.
 */
export function createCredential(
  options: { challenge: string; rp: { id?: string } },
  {
    origin = 'http://localhost:3000',
    rpId = options.rp.id ?? '',
    challenge = options.challenge,
    type = 'webauthn.create',
    flags = 0b0100_0101,
    credentialId = randomBytes(16),
    aaguid = Buffer.alloc(16),
    fmt = 'none',
    attStmt = new Map(),
  }: Over = {},
) {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = keys.publicKey.export({ format: 'jwk' })
  const publicKey = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
    ]),
  )
  const authData = Buffer.concat([
    sha256(rpId),
    Buffer.from([flags, 0, 0, 0, 0]),
    aaguid,
    Buffer.from([credentialId.length >> 8, credentialId.length & 255]),
    credentialId,
    publicKey,
  ])
  const attestationObject = isoCBOR.encode(
    new Map<string, unknown>([
      ['fmt', fmt],
      ['attStmt', attStmt],
      ['authData', new Uint8Array(authData)],
    ]) as never,
  )
  return {
    publicKey: base64url(publicKey),
    privateKey: keys.privateKey,
    response: {
      id: base64url(credentialId),
      rawId: base64url(credentialId),
      type: 'public-key' as const,
      clientExtensionResults: {},
      authenticatorAttachment: 'platform',
      response: {
        clientDataJSON: base64url(JSON.stringify({ type, challenge, origin, crossOrigin: false })),
        attestationObject: base64url(attestationObject),
        transports: ['internal'],
      },
    },
  }
}

type AssertionOver = Omit<Over, 'credentialId' | 'aaguid' | 'fmt' | 'attStmt'> & {
  counter?: number
  userHandle?: string | null
}

/**
 * What a browser and its authenticator answer to the options of a sign-in (WebAuthn Level 3, section 6.3.3),
 * as JSON.
 */
export function createAssertion(
  { id, privateKey }: { id: string; privateKey: KeyObject },
  options: { challenge: string; rpId: string },
  {
    origin = 'http://localhost:3000',
    rpId = options.rpId,
    challenge = options.challenge,
    type = 'webauthn.get',
    flags = 0b0000_0101,
    counter = 0,
    userHandle = null,
  }: AssertionOver = {},
): string {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  const authenticatorData = Buffer.concat([sha256(rpId), Buffer.from([flags]), count])
  const clientData = JSON.stringify({ type, challenge, origin, crossOrigin: false })
  return JSON.stringify({
    id,
    rawId: id,
    type: 'public-key',
    response: {
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(authenticatorData),
      signature: base64url(
        sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), privateKey),
      ),
      userHandle,
    },
  })
}
