import type { Ctx } from '../context/context.ts'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import { countByMarks, insertMarks, UNMARKED } from './marks.sql.ts'

/** The tenants whose marks this process makes. */
const marking = new Set<string>()

/** Makes the marks that the log of a tenant lacks. */
export async function markEvents({ db, tenant }: Pick<Ctx, 'db' | 'tenant'>): Promise<void> {
  if (marking.has(tenant)) return
  marking.add(tenant)
  try {
    let made: number
    do {
      made = await db.transaction(insertMarks)
    } while (made > 0)
  } finally {
    marking.delete(tenant)
  }
}

/**
 * The number of events of the tenant. A long log gets marks: whoever counts it first pays for them, and events cost nothing
 * more when they are recorded. See docs/decisions/0167.
 */
export async function countLog(ctx: Pick<Ctx, 'db' | 'tenant'>): Promise<number> {
  const { total, unmarked } = await countByMarks(ctx.db)
  if (unmarked >= UNMARKED)
    markEvents(ctx).catch((error) => log.warn({ err: errorMessage(error) }, 'the marks of a log failed'))
  return total
}
