import { createPrivateKey, sign } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { unseal } from '../../src/core/crypto.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { Handle } from '../../src/database/handle.ts'
import { createSigningKey, ensureSigningKeys } from '../../src/keys/key-rotation.ts'
import { type SigningKeyRow, selectSigningKeys } from '../../src/keys/keys.sql.ts'
import { listPublicKeys, SEAL_PURPOSE, signJwt, verifyJwt } from '../../src/keys/keys.ts'
import { countStatements } from '../support/statements.ts'
import { test } from '../support/tenant-per-test.ts'

const claims = (tenant: string) => ({ iss: issuerOf(tenant), exp: Math.floor(Date.now() / 1000) + 60 })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const signedBy = ({ id: kid, privateKey }: SigningKeyRow, payload: object) => {
  const input = `${encode({ alg: 'ES256', typ: 'at+jwt', kid })}.${encode(payload)}`
  const key = createPrivateKey({ key: unseal(SEAL_PURPOSE, privateKey), format: 'der', type: 'pkcs8' })
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

describe('a process with cached keys', () => {
  test('signs with a new key of another algorithm', async ({ tenant }) => {
    await listPublicKeys(tenant)
    // As another process does: this one is not notified.
    await new Handle({ tenant }).transaction((tx) =>
      ensureSigningKeys(tx, createPlatformCtx(tenant), {
        idTokenSigningAlg: 'EdDSA',
        userInfoSigningAlg: null,
      }),
    )
    const token = await signJwt(tenant, 'JWT', claims(tenant), 'EdDSA')
    expect(decodeProtectedHeader(token).alg).toBe('EdDSA')
    await expect(signJwt(tenant, 'JWT', claims(tenant), 'RS256')).rejects.toThrow('has no RS256 key')
  })

  test('verifies a token that is signed with a new key', async ({ tenant }) => {
    await listPublicKeys(tenant)
    await sleep(150)
    await createSigningKey(new Handle({ tenant }))
    const [latest] = await selectSigningKeys(new Handle({ tenant }))
    const signed = claims(tenant)
    const payload = await verifyJwt(tenant, signedBy(latest as SigningKeyRow, signed), 'at+jwt')
    expect(payload).toMatchObject(signed)
  })

  test('reads the keys at most every 100 ms for unknown key ids', async ({ tenant }) => {
    const token = await signJwt(tenant, 'at+jwt', claims(tenant))
    const started = Date.now()
    const statements = await countStatements(async () => {
      for (let n = 0; n < 200; n++) {
        const header = encode({ ...decodeProtectedHeader(token), kid: `invented-${n}` })
        const forged = `${header}.${token.split('.').slice(1).join('.')}`
        await expect(verifyJwt(tenant, forged, 'at+jwt')).rejects.toThrow('key')
      }
    })
    expect(statements).toBeLessThanOrEqual(2 + (Date.now() - started) / 100)
    expect(decodeJwt(token)).toMatchObject({ iss: issuerOf(tenant) })
  })
})
