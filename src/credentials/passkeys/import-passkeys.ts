import { createPublicKey } from 'node:crypto'
import type { Ctx } from '../../context/context.ts'
import { newId } from '../../core/crypto.ts'
import { type FieldIssue, InvalidInput } from '../../core/errors.ts'
import type { Db, Tx } from '../../database/handle.ts'
import { insertPasskey, MAX_PASSKEYS } from './insert-passkey.ts'
import { deriveUserHandle, RP_ID } from './relying-party.ts'

/** A passkey in the line of an import. Bytes are in base64url. */
type ImportedPasskey = {
  id: string
  publicKey: string
  userHandle: string
  rpId: string
  signCount?: number | null | undefined
  transports?: string[] | null | undefined
}

/** Labels and values of COSE keys (RFC 9053, sections 7.1 and 7.2; RFC 8230, section 4). */
const COSE = { kty: 1, alg: 3, OKP: 1, EC2: 2, RSA: 3, first: -1, second: -2, third: -3 }
/** The key type of each of COSE_ALGORITHMS. */
const KTY_OF: Record<number, number> = { [-7]: COSE.EC2, [-8]: COSE.OKP, [-257]: COSE.RSA }
const MIN_RSA_BITS = 2048
const MAX_RSA_BITS = 8192

/** Whether bytes are a public key of an algorithm that sign-ins verify. A point that is not of the curve is none. */
async function isCosePublicKey(bytes: Buffer): Promise<boolean> {
  const { decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers') // loaded on first use
  try {
    const key = decodeCredentialPublicKey(new Uint8Array(bytes)) as unknown as Map<number, unknown>
    const read = (label: number) => Buffer.from(key.get(label) as Uint8Array).toString('base64url')
    const kty = key.get(COSE.kty)
    const jwk =
      kty === COSE.EC2
        ? { kty: 'EC', crv: 'P-256', x: read(COSE.second), y: read(COSE.third) }
        : kty === COSE.OKP
          ? { kty: 'OKP', crv: 'Ed25519', x: read(COSE.second) }
          : { kty: 'RSA', n: read(COSE.first), e: read(COSE.second) }
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' })
    const bits = asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS
    return KTY_OF[key.get(COSE.alg) as number] === kty && bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS
  } catch {
    return false
  }
}

/**
 * Stores the passkeys that a user had in another system of the same RP ID; those that exist stay as they are. False when all
 * exist. Throws InvalidInput that names every member that is wrong.
 */
export async function importPasskeys(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  passkeys: readonly ImportedPasskey[],
): Promise<boolean> {
  const { prisma, tenant: tenantId } = tx
  const known = await prisma.credential.findMany({
    where: { tenantId, externalId: { in: passkeys.map(({ id }) => id) } },
    select: { externalId: true, userId: true },
  })
  const owners = new Map(known.map((row) => [row.externalId, row.userId]))
  const issues: FieldIssue[] = []
  for (const [index, { id, publicKey, rpId }] of passkeys.entries()) {
    const reject = (member: string, description: string) =>
      issues.push({ field: `passkeys.${index}.${member}`, description })
    if (rpId !== RP_ID) reject('rpId', `must be ${RP_ID}: browsers offer a passkey to its own RP ID only`)
    if ((owners.get(id) ?? userId) !== userId) reject('id', 'is the passkey of another user')
    if (!(await isCosePublicKey(Buffer.from(publicKey, 'base64url'))))
      reject('publicKey', 'must be a COSE key of ES256, EdDSA or RS256')
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  const added = passkeys.filter(({ id }) => !owners.has(id))
  for (const { id: externalId, publicKey, userHandle, signCount, transports } of added) {
    const passkey = {
      id: newId('cred'),
      externalId,
      publicKey,
      userHandle,
      signCount: signCount ?? 0,
      transports: transports ?? [],
    }
    const isStored = await insertPasskey(
      tx,
      ctx,
      { passkey, userId, device: null, byManagement: true },
      new Date(),
    )
    if (!isStored)
      throw new InvalidInput([
        { field: 'passkeys', description: `would be more than ${MAX_PASSKEYS} with those of before` },
      ])
  }
  return added.length > 0
}

/** The passkeys of users, for an export. */
export async function readPasskeys(
  { prisma, tenant }: Db,
  userIds: string[],
): Promise<ReadonlyMap<string, object[]>> {
  const rows = await prisma.credential.findMany({
    where: { tenantId: tenant, userId: { in: userIds }, type: 'public-key' },
    orderBy: { id: 'asc' },
  })
  const byUser = new Map<string, object[]>()
  for (const { userId, externalId, publicKey, userHandle, signCount, transports } of rows) {
    const passkey = {
      id: externalId,
      publicKey,
      userHandle: userHandle ?? Buffer.from(deriveUserHandle(tenant, userId)).toString('base64url'),
      rpId: RP_ID,
      signCount: Number(signCount),
      transports,
    }
    byUser.set(userId, [...(byUser.get(userId) ?? []), passkey])
  }
  return byUser
}
