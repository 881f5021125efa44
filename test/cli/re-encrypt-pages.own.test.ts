import { randomBytes } from 'node:crypto'
import { describe, expect, vi } from 'vitest'
import { seal } from '../../src/core/crypto.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { listStatements } from '../../src/database/statement.ts'
import { toStoredResponsePurpose } from '../../src/http/idempotency.ts'
import { toIdpSecretPurpose } from '../../src/idps/secrets/idp-secrets.ts'
import { newTenant } from '../support/actors.ts'
import { vestibule } from '../support/cli.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/tenant-per-test.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Of each tenant and table; two tenants have more than two pages, whose borders are inside a tenant. */
const ROWS = 230
const NEW_KEY = Buffer.alloc(32, 'another').toString('base64url')

/** Writes secrets to a table with a text as key, and to one with bytes. */
async function writeSecrets(tenantId: string): Promise<void> {
  const db = dbFor(tenantId)
  await db.identityProvider.createMany({
    data: Array.from({ length: ROWS }, () => {
      const id = randomBytes(8).toString('hex')
      const clientSecret = seal(toIdpSecretPurpose(tenantId, id, 'clientSecret'), id)
      return { tenantId, id, type: 'google', name: id, clientSecret }
    }),
  })
  await db.idempotencyKey.createMany({
    data: Array.from({ length: ROWS }, () => {
      const keyHash = randomBytes(32)
      const answer = seal(toStoredResponsePurpose(tenantId, keyHash), '{}')
      return { tenantId, keyHash, requestHash: keyHash, answer, expiresAt: new Date(Date.now() + 3600_000) }
    }),
  })
}

/** The sealed values of a tenant. */
async function readSecrets(tenantId: string): Promise<(string | null)[]> {
  const db = dbFor(tenantId)
  const idps = await db.identityProvider.findMany({ where: { tenantId } })
  const answers = await db.idempotencyKey.findMany({ where: { tenantId } })
  return [...idps.map(({ clientSecret }) => clientSecret), ...answers.map(({ answer }) => answer)]
}

describe('the pages of vestibule key re-encrypt', () => {
  test('reach each row once, in tables with more rows than a page and over several tenants', async ({
    tenant,
  }) => {
    const tenants = [tenant, await newTenant()]
    await Promise.all(tenants.map(writeSecrets))
    const before = (await Promise.all(tenants.map(readSecrets))).flat()
    const { stdout } = await vestibule(['key', 're-encrypt', '--json'], {
      ENCRYPTION_KEY: `${NEW_KEY},${process.env.ENCRYPTION_KEY}`,
    })
    expect(JSON.parse(stdout)).toMatchObject({ IdpClientSecret: 2 * ROWS, IdempotencyKey: 2 * ROWS })
    const after = (await Promise.all(tenants.map(readSecrets))).flat()
    expect(after).toHaveLength(4 * ROWS)
    expect(after.filter((sealed) => before.includes(sealed))).toEqual([])
  })

  test('are ordered by columns of the output under their own names, with the limit in the text', async () => {
    await import('../../src/jobs/reencrypt.sql.ts')
    const pages = listStatements().filter(({ returns }) => 'sealed' in returns)
    expect(pages).toHaveLength(16)
    for (const { text, returns } of pages) {
      const [, order = '', limit] = /ORDER BY (.*) LIMIT (\S+)$/.exec(text) ?? []
      const names = order.split(', ').map((name) => name.replaceAll('"', ''))
      expect([names.filter((name) => !(name in returns)), limit]).toEqual([[], '200'])
      expect(text).not.toContain(`AS "${names.at(-1)}"`)
      expect(text).toContain(`$1 = '${SYSTEM_TENANT}'`)
    }
  })
})
