import type { Ctx } from '../core/context.ts'
import { takeTurn } from '../core/turns.ts'
import { inTransactionFor } from '../database/db.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { ExportOptions } from './export.fields.ts'
import { selectUsersAfter } from './export.sql.ts'
import { planByKeys } from './index-planning.sql.ts'
import { toUserBody } from './user-body.ts'

/** The number of users per statement. A user may have 128 KB of metadata. */
const USERS_PER_PAGE = 200

/** The number of users that are converted in one turn. */
const USERS_PER_TURN = 50

async function* readUserPages(ctx: Ctx, afterId: string): AsyncGenerator<object[]> {
  for (let after = afterId; ; ) {
    const users = await inTransactionFor(ctx, async (sql) => {
      await planByKeys(sql, ctx.tenant)
      return selectUsersAfter(sql, ctx.tenant, after, USERS_PER_PAGE)
    })
    for (let start = 0; start < users.length; start += USERS_PER_TURN) {
      await takeTurn(ctx)
      const slice = users.slice(start, start + USERS_PER_TURN)
      yield slice.map((user) => ({ ...toUserBody(ctx, user), externalId: user.externalId }))
    }
    const last = users.at(-1)
    if (!last || users.length < USERS_PER_PAGE) return
    after = last.id
  }
}

/**
 * Yields all users of the tenant in order of id, in batches, in the format of an import: every field of the
 * API and externalId; appMetadata only with the scope for it, and no roles. Batches are read as they are
 * consumed, without a transaction: each user is as of the time of reading, and a user who is created during
 * the export may be missing. Throws InvalidInput about the options before the first batch.
 */
export function exportUsers(ctx: Ctx, options: unknown = {}): AsyncGenerator<object[]> {
  const { afterId = '' } = parseInput(ExportOptions, options)
  return readUserPages(ctx, afterId)
}
