import { existsSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, readlink, realpath, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { admit, canReach, type ServerUser } from './server-user.ts'

const NAME = 'postgres'
/**
 * Where a cluster is kept that its user cannot reach below DATA_DIR. Every user can enter it, and root can
 * write it.
 */
const SYSTEM_STATE = '/var/lib/vestibule-'

/** Where the data of an earlier start is, if there was one. */
export const dataIn = (root: string): string => join(root, NAME, 'data')

/**
 * The directory of the cluster: its data, socket and log. It is below `root`; for a PostgreSQL that runs as
 * `user`, who cannot enter every directory above `root` (such as /root), it is in /var/lib, with a link to it
 * below `root`. The directory is this process's own, so that `user` cannot redirect what this process writes
 * there. Throws for a database of version 0.1.0 and before.
 */
export async function makeHome(root: string, user: ServerUser | null): Promise<string> {
  const home = join(root, NAME)
  const found = await lstat(home).catch(() => null)
  if (found?.isSymbolicLink()) return followLink(home)
  if (!found) rejectPGlite(root)
  if (!found && user && !(await canReach(dirname(root), user))) {
    const distant = await mkdtemp(SYSTEM_STATE)
    await admit(distant, user)
    await symlink(distant, home)
    return distant
  }
  if (!found) await mkdir(home, { mode: 0o700 })
  if (user) {
    await admit(root, user)
    await admit(home, user)
  }
  return home
}

async function followLink(home: string): Promise<string> {
  return realpath(home).catch(async (error: unknown) => {
    throw new Error(
      `${home} is a link to ${await readlink(home)}, where the embedded database was and no longer is. ` +
        `Restore that directory, or delete ${dirname(home)} to start with an empty database.`,
      { cause: error },
    )
  })
}

/** Until 0.1.0 the embedded database was PGlite, whose files only PGlite reads. */
function rejectPGlite(root: string): void {
  const old = join(root, 'db')
  if (!existsSync(join(old, 'PG_VERSION'))) return
  throw new Error(
    `${old} was written by PGlite, which earlier versions of Vestibule embedded; this version embeds PostgreSQL and cannot read it. ` +
      'To keep its users, run "vestibule users export <file> --tenant <slug>" of the earlier version for each tenant, and ' +
      `"vestibule user import" of this one after its first start. Then rename or delete ${old}.`,
  )
}
