import { describe, expect } from 'vitest'
import { findClient, isCurrentClientSecret } from '../../src/access/client-cache.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { randomToken, sha256 } from '../../src/core/crypto.ts'
import { MINIMAL_CLIENT } from '../support/clients.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/fixtures.ts'
import { countStatements } from '../support/statements.ts'

describe('findClient and isCurrentClientSecret', () => {
  test('reads the client and its secrets in one statement, and from the cache afterwards', async ({
    tenant,
  }) => {
    const { client, secret } = await createClient(createPlatformCtx(tenant), MINIMAL_CLIENT)
    expect(await countStatements(() => findClient(tenant, client.id))).toBe(1)
    expect(await countStatements(() => findClient(tenant, client.id))).toBe(0)
    const found = await findClient(tenant, client.id)
    expect(found).toMatchObject({
      ...client,
      secretHashes: [{ hash: sha256(secret ?? ''), expiresAt: null }],
    })
  })

  test('accepts each secret that has not expired, and no variation of it', async ({ tenant }) => {
    const { client, secret } = await createClient(createPlatformCtx(tenant), MINIMAL_CLIENT)
    const [older, oldest] = [randomToken(), randomToken()]
    const add = (text: string, expiresAt: Date) =>
      dbFor(tenant).clientSecret.create({
        data: { tenantId: tenant, clientId: client.id, secretHash: sha256(text), expiresAt },
      })
    await add(older, new Date(Date.now() + 60_000))
    await add(oldest, new Date(Date.now() - 1))
    const found = await findClient(tenant, client.id)
    if (!found || !secret) throw new Error('the client does not exist')
    const verdicts = [secret, older, oldest, '', secret.slice(0, -1), `${secret}A`, secret.toUpperCase()]
    expect(verdicts.map((text) => isCurrentClientSecret(found, text))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ])
    expect(isCurrentClientSecret(found, older, new Date(Date.now() + 61_000))).toBe(false)
    const publicApp = await createClient(createPlatformCtx(tenant), { ...MINIMAL_CLIENT, appType: 'native' })
    const foundPublic = await findClient(tenant, publicApp.client.id)
    expect(foundPublic && isCurrentClientSecret(foundPublic, '')).toBe(false)
  })
})
