import { describe, expect } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { listTenants } from '../../src/tenants/tenant-list.ts'
import { ensureTenant } from '../../src/tenants/tenants.ts'
import { hasServices } from '../support/services.ts'
import { countStatements } from '../support/statements.ts'
import { test as base } from '../support/tenants.ts'

/** With the slugs of 1,000 tenants. */
const test = base.extend('slugs', { scope: 'file' }, async ({ system: _ }) => {
  const slugs = Array.from({ length: 1000 }, (_, index) => `many-${String(index).padStart(4, '0')}`)
  for (let index = 0; index < slugs.length; index += 10)
    await Promise.all(slugs.slice(index, index + 10).map((slug) => ensureTenant(slug)))
  return slugs
})

describe.runIf(hasServices)('a deployment with 1,000 tenants', () => {
  test('reads a tenant in one statement, and from the cache afterwards', async ({ slugs }) => {
    // On a busy machine a read can take longer than the lifetime of a cache entry: the next slug is tried.
    const untried = [...slugs]
    const counts = async () => {
      const slug = untried.pop() ?? ''
      const found = () => findTenant(slug)
      return [
        await countStatements(found),
        await countStatements(() => Promise.all(Array.from({ length: 50 }, found))),
      ]
    }
    await expect.poll(counts, { timeout: 10_000 }).toEqual([1, 0])
  })

  test('returns each tenant with its own token key', async ({ slugs }) => {
    const found = await Promise.all(slugs.map((slug) => findTenant(slug)))
    expect(found.map((tenant) => tenant?.tenantId)).toEqual(slugs)
    expect(new Set(found.map((tenant) => tenant?.tokenKey.toString('hex'))).size).toBe(1000)
  })

  test('lists the tenants by page and by cursor, in the order of their slugs', async ({ system, slugs }) => {
    const byCursor: string[] = []
    for (let after: string | null = null; ; ) {
      const page = await listTenants(system, { first: 400, after })
      byCursor.push(...page.rows.map(({ tenantId }) => tenantId))
      const last = page.rows.at(-1)
      if (!page.hasNextPage || !last) break
      after = page.encodeRowCursor(last)
    }
    const byOffset = await Promise.all([0, 1, 2].map((page) => listTenants(system, { page, pageSize: 1000 })))
    const offsetSlugs = byOffset.flatMap((page) => page.rows.map(({ tenantId }) => tenantId))
    expect(offsetSlugs).toEqual(byCursor)
    expect(byCursor).toEqual([...byCursor].sort())
    expect(byCursor).toEqual(expect.arrayContaining([...slugs, SYSTEM_TENANT]))
    expect(await byOffset[0]?.countAll()).toBe(byCursor.length)
    const last = await listTenants(system, { last: 2 })
    expect(last.rows.map(({ tenantId }) => tenantId)).toEqual(byCursor.slice(-2))
    for (const row of last.rows) expect(Object.keys(row)).not.toContain('tokenKey')
  })

  test('finds tenants by parts of their slugs in one statement, and counts them in another', async ({
    system,
    slugs,
  }) => {
    const search = () => listTenants(system, { filter: { search: 'NY-09 any' }, first: 30 })
    const page = await search()
    const wanted = slugs.filter((slug) => slug.startsWith('many-09'))
    expect(page.rows.map(({ tenantId }) => tenantId)).toEqual(wanted.slice(0, 30))
    expect(await page.countAll()).toBe(wanted.length)
    expect([await countStatements(search), await countStatements(() => page.countAll())]).toEqual([1, 1])
  })

  test('sends no statement for a text that cannot be a slug', async ({ slugs: _ }) => {
    const names = ['..', 'A', '%61cme', 'a b', 'acme\n', '\u0000', 'health', 'x'.repeat(64), '']
    expect(await countStatements(() => Promise.all(names.map(findTenant)))).toBe(0)
  })
})
