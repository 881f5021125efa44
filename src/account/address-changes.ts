import { requireOwnAccount } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import type { Channel } from '../passcodes/passcodes.fields.ts'
import { selectPendingChanges } from './address-change.sql.ts'

/** The new addresses of the caller that wait for their code, as they were entered, by channel. */
export async function findPendingChanges(ctx: Ctx): Promise<Partial<Record<Channel, string>>> {
  const { userId } = requireOwnAccount(ctx)
  const rows = await selectPendingChanges(ctx.db, userId, new Date())
  return Object.fromEntries(rows.map(({ channel, shown }) => [channel, shown]))
}
