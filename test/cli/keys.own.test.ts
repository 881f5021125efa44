import { createPrivateKey, createPublicKey } from 'node:crypto'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { describe, expect, vi } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { unseal } from '../../src/core/crypto.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { toTotpPurpose } from '../../src/credentials/second-factors/totp.ts'
import { Handle } from '../../src/database/handle.ts'
import type { IdentityProvider } from '../../src/generated/prisma/client.ts'
import { runIdempotently } from '../../src/http/idempotency.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { unsealIdpSecrets } from '../../src/idps/secrets/idp-secrets.ts'
import { replaceTokens, toTokenPurpose } from '../../src/idps/tokens/kept-tokens.ts'
import { getSigningKeys, rotateSigningKeys } from '../../src/keys/key-rotation.ts'
import { selectSigningKeys } from '../../src/keys/keys.sql.ts'
import { SEAL_PURPOSE, signJwt, verifyJwt } from '../../src/keys/keys.ts'
import { SIGNING_ALGORITHMS } from '../../src/keys/signing-algorithms.ts'
import { createUser } from '../../src/users/users.ts'
import { vestibule } from '../support/cli.ts'
import { dbFor, sql } from '../support/database.ts'
import { test } from '../support/tenant-per-test.ts'
import { enrollTotp } from '../support/totp.ts'

vi.setConfig({ testTimeout: 120_000 })

describe('vestibule key re-encrypt', () => {
  test('seals every secret with the first key, so that the second is no longer needed', async ({
    tenant,
  }) => {
    const before = await findTenant(tenant)
    const once = () =>
      runIdempotently(
        createPlatformCtx(tenant),
        'key',
        [],
        async () => ({ response: { secret: 'secret of the answer' }, isFinal: true }),
        () => true,
      )
    await once()
    const idp = { id: 'up', type: 'google', name: 'Up', clientSecret: 'kept' }
    await createIdentityProvider(createPlatformCtx(tenant), idp)
    const { id: userId } = await createUser(createPlatformCtx(tenant), {})
    const app = await enrollTotp(createPlatformCtx(tenant), userId)
    const { id: linkId } = await addIdpUser(createPlatformCtx(tenant), userId, 'up', { externalId: 'ada' })
    const tokens = { accessToken: 'access', refreshToken: 'refresh', scopes: ['email'], expiresAt: null }
    await createPlatformCtx(tenant).db.transaction((tx) =>
      replaceTokens(tx, { id: linkId, idpId: 'up' }, tokens),
    )
    // Current and retired signing keys of each algorithm.
    for (const idTokenSigningAlg of SIGNING_ALGORITHMS)
      await createClient(createPlatformCtx(tenant), {
        name: 'A',
        appType: 'web',
        type: 'login',
        idTokenSigningAlg,
      })
    await rotateSigningKeys(createPlatformCtx(tenant), {})
    const [newKey, oldKey] = [
      Buffer.alloc(32, 'another').toString('base64url'),
      process.env.ENCRYPTION_KEY ?? '',
    ]
    const both = await vestibule(['key', 're-encrypt', '--json'], { ENCRYPTION_KEY: `${newKey},${oldKey}` })
    const counts = JSON.parse(both.stdout)
    const [all] = await sql<{ tenants: number; keys: number }>(
      `SELECT (SELECT count("tenantId")::int FROM "Tenant") AS tenants, (SELECT count(*)::int FROM "SigningKey") AS keys WHERE $1 <> ''`,
      ['all'],
    )
    expect(counts).toMatchObject({ Tenant: all?.tenants, SigningKey: all?.keys, IdempotencyKey: 1 })
    expect(counts).toMatchObject({ IdpClientSecret: 1, IdpSigningKey: 0, TotpSecret: 1 })
    expect(counts).toMatchObject({ ProviderAccessToken: 1, ProviderRefreshToken: 1 })
    const again = await vestibule(['key', 're-encrypt', '--json'], { ENCRYPTION_KEY: newKey })
    expect(new Set(Object.values(JSON.parse(again.stdout)))).toEqual(new Set([0]))
    const back = await vestibule(['key', 're-encrypt', '--json'], { ENCRYPTION_KEY: `${oldKey},${newKey}` })
    expect(JSON.parse(back.stdout)).toEqual(counts)
    const keys = await selectSigningKeys(new Handle({ tenant }))
    expect(keys).toHaveLength(2 * SIGNING_ALGORITHMS.length)
    for (const { id, privateKey } of keys) {
      const key = createPrivateKey({ key: unseal(SEAL_PURPOSE, privateKey), format: 'der', type: 'pkcs8' })
      const jwk = createPublicKey(key).export({ format: 'jwk' })
      expect(await calculateJwkThumbprint(jwk as JWK)).toBe(id)
    }
    const row = await findTenant(tenant)
    expect(row?.tokenKey).toEqual(before?.tokenKey)
    expect(await once()).toEqual({ response: { secret: 'secret of the answer' }, isReplayed: true })
    const [sealed] = await sql<IdentityProvider>('SELECT * FROM "IdentityProvider" WHERE "tenantId" = $1', [
      tenant,
    ])
    expect(sealed && unsealIdpSecrets(sealed)).toMatchObject({
      clientSecret: 'kept',
      idTokenSigningKey: null,
    })
    const credential = await dbFor(tenant).credential.findFirstOrThrow({
      where: { tenantId: tenant, userId },
    })
    const kept = await dbFor(tenant).idpUserToken.findFirstOrThrow({ where: { tenantId: tenant, linkId } })
    for (const column of ['accessToken', 'refreshToken'] as const)
      expect(unseal(toTokenPurpose(tenant, linkId, column), kept[column] ?? '').toString()).toBe(
        tokens[column],
      )
    const { credentialId, secret } = app
    expect(unseal(toTotpPurpose(tenant, credentialId), credential.secret ?? '').toString()).toBe(secret)
    const lost = await vestibule(['key', 're-encrypt'], { ENCRYPTION_KEY: newKey })
    expect(lost.code).toBe(1)
    expect(lost.stderr).toContain('is not the one that this database was written with')
  })
})

describe('vestibule key rotate', () => {
  test('publishes new keys that sign later, and prints how long the previous keys are published', async ({
    tenant,
  }) => {
    const [first] = await getSigningKeys(createPlatformCtx(tenant))
    const run = await vestibule(['key', 'rotate', '--tenant', tenant, '--activate-in', '3600', '--json'])
    expect(run).toMatchObject({ code: 0, stderr: '' })
    const { keys } = JSON.parse(run.stdout) as { keys: { kid: string; activeAt: string }[] }
    expect(keys).toEqual([
      { kid: expect.any(String), alg: 'ES256', activeAt: expect.any(String), expiresAt: null },
      { kid: first?.kid, alg: 'ES256', activeAt: expect.any(String), expiresAt: expect.any(String) },
    ])
    expect(Date.parse(keys[0]?.activeAt ?? '')).toBeGreaterThan(Date.now() + 3000_000)
    // The text output; a running server rejects tokens of the retired keys.
    const token = await signJwt(tenant, 'JWT', { iss: issuerOf(tenant) })
    const text = await vestibule(['key', 'rotate', '--tenant', tenant, '--retire-at-once'])
    expect(text.stdout).toMatch(/^KID +ALG +SIGNS FROM +PUBLISHED UNTIL\n[\w-]{43} +ES256 +\S+Z +-\n$/)
    await vi.waitFor(() => expect(verifyJwt(tenant, token, 'JWT')).rejects.toThrow('key'), 5000)
  })

  test('rejects invalid options and an unknown tenant', async ({ tenant }) => {
    const cases: [string[], string][] = [
      [['--activate-in', 'soon'], '--activate-in: must be a whole number from 0 to 2592000'],
      [['--activate-in='], '--activate-in: must be a whole number from 0 to 2592000'],
      [['--activate-in', '5', '--retire-at-once'], '--activate-in: must be 0 or omitted'],
      [['--tenant', 'unknown'], 'No such tenant.'],
    ]
    const runs = await Promise.all(
      cases.map(([args]) => vestibule(['key', 'rotate', '--tenant', tenant, ...args])),
    )
    expect(runs).toEqual(
      cases.map(([, message]) => ({ code: 1, stdout: '', stderr: expect.stringContaining(message) })),
    )
    expect(await getSigningKeys(createPlatformCtx(tenant))).toHaveLength(1)
  })
})

describe('an ENCRYPTION_KEY that does not belong to the database', () => {
  test('is rejected before anything is sealed with it', async ({ tenant: _ }) => {
    const ENCRYPTION_KEY = Buffer.alloc(32, 'another-key').toString('base64url')
    const run = await vestibule(['tenant', 'create', 'unreadable'], { ENCRYPTION_KEY })
    expect(run.code).toBe(1)
    expect(run.stderr).toContain('is not the one that this database was written with')
    expect(await findTenant('unreadable')).toBeNull()
  })
})
