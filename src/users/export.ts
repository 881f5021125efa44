import type { Ctx } from '../ctx.ts'
import { inTransaction } from '../db.ts'
import { parse } from '../fields.ts'
import { ExportOptions } from './export.fields.ts'
import { selectUsersBeyond } from './export.sql.ts'
import { planByKeys } from './plan-by-keys.sql.ts'
import { toUser } from './user-body.ts'

/** As many as are read at once. A user may have 128 KB of metadata. */
const PAGE_USERS = 200

async function* pagesOf(ctx: Ctx, afterId: string): AsyncGenerator<object[]> {
  for (let after = afterId; ; ) {
    const users = await inTransaction(async (sql) => {
      await planByKeys(sql, ctx.tenant)
      return selectUsersBeyond(sql, ctx.tenant, after, PAGE_USERS)
    })
    if (users.length > 0) yield users.map((user) => ({ ...toUser(ctx, user), externalId: user.externalId }))
    const last = users.at(-1)
    if (!last || users.length < PAGE_USERS) return
    after = last.id
  }
}

/**
 * All users of the tenant in order of id, some at once, each as an import takes it back: every field of the
 * specification and externalId; appMetadata only for who may read it, roles for nobody. Reads as the lines are taken, page
 * by page, so that it holds nothing up: each user is as at the time of reading, and one created meanwhile may be missing.
 * Throws InvalidInput about the options, at once.
 */
export function exportUsers(ctx: Ctx, options: unknown = {}): AsyncGenerator<object[]> {
  const { afterId = '' } = parse(ExportOptions, options)
  return pagesOf(ctx, afterId)
}
