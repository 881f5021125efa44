import type { Ctx } from '../../context/context.ts'
import { type FieldIssue, InvalidInput } from '../../core/errors.ts'
import type { Db, Tx } from '../../database/handle.ts'
import { type LineParts, PART_SCOPES, type PartName } from './line-parts.fields.ts'

/** How a part is stored and read. */
type PartStore<Name extends PartName> = {
  /** Stores the part, for a user whose row the transaction has locked. True when something was stored. Throws InvalidInput. */
  write: (tx: Tx, ctx: Ctx, userId: string, part: NonNullable<LineParts[Name]>) => Promise<boolean>
  /** The parts of users, of those who have one, as an import takes them. */
  read?: (db: Db, userIds: string[]) => Promise<ReadonlyMap<string, object[] | string[]>>
}

const stores = new Map<PartName, PartStore<never>>()

/** Registers who stores a part, so that this folder does not import the folders above it. */
export function registerLinePart<Name extends PartName>(name: Name, store: PartStore<Name>): void {
  stores.set(name, store as unknown as PartStore<never>)
}

/** Stores the parts of a line. True when something was stored. Throws InvalidInput about all of them. */
export async function writeLineParts(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  parts: LineParts = {},
): Promise<boolean> {
  let isChanged = false
  const issues: FieldIssue[] = []
  for (const [name, part] of Object.entries(parts)) {
    if (part === undefined) continue
    try {
      if (await stores.get(name as PartName)?.write(tx, ctx, userId, part as never)) isChanged = true
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      issues.push(...error.fields)
    }
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  return isChanged
}

/** The parts of users that the caller may read, by user. */
export async function readLineParts(ctx: Ctx, db: Db, userIds: string[]): Promise<Map<string, object>> {
  const parts = new Map<string, object>()
  for (const [name, { read }] of stores) {
    const scope = PART_SCOPES[name].read
    if (!read || !scope || !(ctx.actor.kind === 'platform' || ctx.scopes.has(scope))) continue
    for (const [userId, part] of await read(db, userIds))
      parts.set(userId, { ...parts.get(userId), [name]: part })
  }
  return parts
}
