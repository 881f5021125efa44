import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { sql } from '../../src/db.ts'
import { createSigningKey } from '../../src/oidc/keys/key-rotation.ts'
import { apiAudienceOf, forgetKeys, issuerOf, signJwt, verifyAccessToken } from '../../src/oidc/keys/keys.ts'
import { newTenant } from '../support/actors.ts'
import { type Provider, startProvider } from './provider.ts'

const LIFETIME_SECONDS = 60

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())
afterEach(() => vi.useRealTimers())

async function tokenOf(tenant: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuerOf(tenant), sub: 'somebody', aud: apiAudienceOf(tenant), iat: now }
  return signJwt(tenant, 'at+jwt', { ...claims, exp: now + LIFETIME_SECONDS })
}

test('a token that was found good is good for that tenant and that audience only', async () => {
  const [tenant, other] = [await newTenant(), await newTenant()]
  const token = await tokenOf(tenant)
  const first = await verifyAccessToken(tenant, token, [apiAudienceOf(tenant)])
  expect(await verifyAccessToken(tenant, token, [apiAudienceOf(tenant)])).toEqual(first)
  await expect(verifyAccessToken(tenant, token, [apiAudienceOf(other)])).rejects.toThrow('"aud"')
  await expect(verifyAccessToken(other, token, [apiAudienceOf(tenant)])).rejects.toThrow('key')
})

test('it is refused once the key that signed it is gone, and stays good beside a newer key', async () => {
  const tenant = await newTenant()
  const audience = [apiAudienceOf(tenant)]
  const token = await tokenOf(tenant)
  await verifyAccessToken(tenant, token, audience)
  const [old] = await sql<{ id: string }>('SELECT "id" FROM "SigningKey" WHERE "tenantId" = $1', [tenant])
  await createSigningKey(sql, tenant)
  forgetKeys(tenant)
  expect(await verifyAccessToken(tenant, token, audience)).toMatchObject({ sub: 'somebody' })
  await sql('DELETE FROM "SigningKey" WHERE "tenantId" = $1 AND "id" = $2', [tenant, old?.id])
  forgetKeys(tenant)
  await expect(verifyAccessToken(tenant, token, audience)).rejects.toThrow('key')
})

test('it is refused once the key that signed it is published no longer', async () => {
  const tenant = await newTenant()
  const audience = [apiAudienceOf(tenant)]
  const token = await tokenOf(tenant)
  await verifyAccessToken(tenant, token, audience)
  await sql(`UPDATE "SigningKey" SET "expiresAt" = now() WHERE "tenantId" = $1`, [tenant])
  forgetKeys(tenant)
  await expect(verifyAccessToken(tenant, token, audience)).rejects.toThrow('key')
})

test('it is refused once it has expired', async () => {
  const tenant = await newTenant()
  const token = await tokenOf(tenant)
  await verifyAccessToken(tenant, token, [apiAudienceOf(tenant)])
  vi.setSystemTime(Date.now() + LIFETIME_SECONDS * 1000)
  await expect(verifyAccessToken(tenant, token, [apiAudienceOf(tenant)])).rejects.toThrow('"exp"')
})
