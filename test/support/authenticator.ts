import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
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
    fmt = 'none',
    attStmt = new Map(),
  }: Over = {},
) {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    format: 'jwk',
  })
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
    Buffer.alloc(16),
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
    response: {
      id: base64url(credentialId),
      rawId: base64url(credentialId),
      type: 'public-key',
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
