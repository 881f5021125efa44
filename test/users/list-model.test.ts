import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { sql } from '../../src/database/db.ts'
import { listUsers } from '../../src/users/user-list.ts'
import { test } from '../support/fixtures.ts'
import { computeIds, listCase, listedPerson, replaceUsers } from '../support/user-list-model.ts'
import { walkByCursor, walkByPage } from '../support/user-pages.ts'

describe('every list of users', () => {
  test('returns each of its users once, in order, by cursor in both directions and by page, and counts them', async ({
    tenant,
    ctx,
  }) => {
    await sql(
      `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, 'acme', 'oidc', 'Acme')`,
      [tenant],
    )
    const lists = fc.array(fc.tuple(listCase, fc.constantFrom('asc', 'desc')), { minLength: 6, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(listedPerson, { maxLength: 25 }),
        lists,
        fc.integer({ min: 1, max: 9 }),
        async (people, all, size) => {
          const rows = await replaceUsers(tenant, people)
          for (const [one, direction] of all) {
            const args = { ...one.args, direction }
            const forward = await walkByCursor(ctx, args, size)
            const wanted = computeIds(rows, one, direction)
            // A search by several words is ordered by the rarest of them, which the model does not know.
            if (one.by) expect(forward).toEqual(wanted)
            else expect(forward.toSorted()).toEqual(wanted.toSorted())
            expect(await walkByCursor(ctx, args, size, true)).toEqual(forward)
            expect(await walkByPage(ctx, args, size)).toEqual(forward)
            expect(await (await listUsers(ctx, args)).countAll()).toBe(wanted.length)
          }
        },
      ),
      { numRuns: 25 },
    )
  })
})
