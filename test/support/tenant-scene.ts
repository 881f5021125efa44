import { newId } from '../../src/core/crypto.ts'
import { dbFor } from '../../src/database/db.ts'
import { newTenant } from './actors.ts'
import { test as base } from './fixtures.ts'

/** Two tenants with one user each, and a database client for the first. */
export type Scene = {
  db: ReturnType<typeof dbFor>
  raw: Record<string, (...args: unknown[]) => Promise<unknown>>
  mine: string
  theirs: string
  myUser: string
  theirUser: string
}

export const test = base.extend('scene', { scope: 'file' }, async ({ tenant: mine }): Promise<Scene> => {
  const theirs = await newTenant()
  const [myUser, theirUser] = [newId('user'), newId('user')]
  await dbFor(mine).user.create({ data: { tenantId: mine, id: myUser, name: mine } })
  await dbFor(theirs).user.create({ data: { tenantId: theirs, id: theirUser, name: theirs } })
  const db = dbFor(mine)
  return { db, raw: db as unknown as Scene['raw'], mine, theirs, myUser, theirUser }
})
