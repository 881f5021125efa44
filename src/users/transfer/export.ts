import type { Ctx } from '../../context/context.ts'
import { ReadLimit } from '../../core/network/read-limit.ts'
import { takeTurn } from '../../core/turns.ts'
import { parseInput } from '../../schema/input-shapes.ts'
import { planByKeys } from '../list/index-planning.sql.ts'
import { toUserBody } from '../user-body.ts'
import { ExportOptions } from './export.fields.ts'
import { readLineParts } from './line-parts.ts'
import { selectUsersAfter } from './transfer.sql.ts'

/** The number of users per statement, and their bytes: a user may have more than 128 KB. */
const USERS_PER_PAGE = 200
const BYTES_PER_PAGE = 1_000_000

/** The number of users that are converted in one turn. */
const USERS_PER_TURN = 50

async function* readUserPages(ctx: Ctx, afterId: string): AsyncGenerator<object[]> {
  let pageSize = USERS_PER_PAGE
  for (let after = afterId; ; ) {
    const limit = new ReadLimit(undefined, pageSize, BYTES_PER_PAGE)
    const { users, parts } = await ctx.db.transaction(async (tx) => {
      await planByKeys(tx)
      const users = await selectUsersAfter(tx, after, pageSize, limit)
      return {
        users,
        parts: await readLineParts(
          ctx,
          tx,
          users.map(({ id }) => id),
        ),
      }
    })
    for (let start = 0; start < users.length; start += USERS_PER_TURN) {
      await takeTurn(ctx)
      const slice = users.slice(start, start + USERS_PER_TURN)
      yield slice.map((user) => ({
        ...toUserBody(ctx, user),
        externalId: user.externalId,
        ...parts.get(user.id),
      }))
    }
    const last = users.at(-1)
    if (!last || (users.length < pageSize && !limit.isReached)) return
    after = last.id
    // Rows beyond the limit are read for nothing: the next statement reads about as many as fit.
    const fitting = Math.ceil((BYTES_PER_PAGE * users.length) / limit.bytes)
    pageSize = Math.min(USERS_PER_PAGE, Math.max(10, fitting))
  }
}

/**
 * Yields all users of the tenant in order of id, in batches, in the format of an import: every field of the
 * API and externalId, what else an import takes, as far as the scopes permit it, and no management roles. Batches are read as they are
 * consumed, without a transaction: each user is as of the time of reading, and a user who is created during
 * the export may be missing. Throws InvalidInput about the options before the first batch.
 */
export function exportUsers(ctx: Ctx, options: unknown = {}): AsyncGenerator<object[]> {
  const { afterId = '' } = parseInput(ExportOptions, options)
  return readUserPages(ctx, afterId)
}
