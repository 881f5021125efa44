import { describe, expect, vi } from 'vitest'
import { apiAudienceOf, issuerOf } from '../../src/core/issuer.ts'
import { Handle } from '../../src/database/handle.ts'
import { createSigningKey } from '../../src/keys/key-rotation.ts'
import { invalidateKeys, signJwt, verifyAccessToken } from '../../src/keys/keys.ts'
import { newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { test } from '../support/tenant-per-test.ts'

const LIFETIME_SECONDS = 60

async function newAccessToken(tenant: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuerOf(tenant), sub: 'user_1', aud: apiAudienceOf(tenant), iat: now }
  return signJwt(tenant, 'at+jwt', { ...claims, exp: now + LIFETIME_SECONDS })
}

describe('verifyAccessToken', () => {
  test('accepts a verified token for its tenant and audience only', async ({ tenant }) => {
    const other = await newTenant()
    const token = await newAccessToken(tenant)
    const first = await verifyAccessToken(tenant, token, [apiAudienceOf(tenant)])
    expect(await verifyAccessToken(tenant, token, [apiAudienceOf(tenant)])).toEqual(first)
    await expect(verifyAccessToken(tenant, token, [apiAudienceOf(other)])).rejects.toThrow('"aud"')
    await expect(verifyAccessToken(other, token, [apiAudienceOf(tenant)])).rejects.toThrow('key')
  })

  test('rejects a verified token once its key is deleted, and accepts it next to a newer key', async ({
    tenant,
  }) => {
    const audience = [apiAudienceOf(tenant)]
    const token = await newAccessToken(tenant)
    await verifyAccessToken(tenant, token, audience)
    const [old] = await sql<{ id: string }>('SELECT "id" FROM "SigningKey" WHERE "tenantId" = $1', [tenant])
    await createSigningKey(new Handle({ tenant }))
    invalidateKeys(new Handle({ tenant }))
    expect(await verifyAccessToken(tenant, token, audience)).toMatchObject({ sub: 'user_1' })
    await sql('DELETE FROM "SigningKey" WHERE "tenantId" = $1 AND "id" = $2', [tenant, old?.id])
    invalidateKeys(new Handle({ tenant }))
    await expect(verifyAccessToken(tenant, token, audience)).rejects.toThrow('key')
  })

  test('rejects a verified token once its key is no longer published', async ({ tenant }) => {
    const audience = [apiAudienceOf(tenant)]
    const token = await newAccessToken(tenant)
    await verifyAccessToken(tenant, token, audience)
    await sql(`UPDATE "SigningKey" SET "expiresAt" = now() WHERE "tenantId" = $1`, [tenant])
    invalidateKeys(new Handle({ tenant }))
    await expect(verifyAccessToken(tenant, token, audience)).rejects.toThrow('key')
  })

  test('rejects a verified token once it has expired', async ({ tenant }) => {
    const token = await newAccessToken(tenant)
    await verifyAccessToken(tenant, token, [apiAudienceOf(tenant)])
    vi.setSystemTime(Date.now() + LIFETIME_SECONDS * 1000)
    await expect(verifyAccessToken(tenant, token, [apiAudienceOf(tenant)])).rejects.toThrow('"exp"')
  })
})
