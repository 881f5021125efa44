import { chmod, chown, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The system user that PostgreSQL runs as when this process is root, which initdb and postgres reject. */
export type ServerUser = { uid: number; gid: number }

/** In order of preference; Debian has `nobody` even without any package installed. */
const CANDIDATES = ['postgres', 'nobody']

/**
 * null when this process is not root. Else the owner of `data`, the directory of an earlier start, or a
 * system user. Throws where the system has none of them.
 */
export async function findServerUser(data: string, accounts = '/etc/passwd'): Promise<ServerUser | null> {
  if (process.getuid?.() !== 0) return null
  const owner = await stat(data).catch(() => null)
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const lines = (await readFile(accounts, 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'))
  for (const name of CANDIDATES) {
    const [, , uid, gid] = lines.find((line) => line[0] === name) ?? []
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(
    `PostgreSQL does not run as root, and this system has no user ${CANDIDATES.join(' or ')} to run it as. ` +
      'Start Vestibule as another user, or set DATABASE_URL.',
  )
}

/** Whether the modes of all directories down to `path` let `user` enter it. */
export async function canReach(path: string, user: ServerUser): Promise<boolean> {
  for (let directory = path; ; directory = dirname(directory)) {
    if (!(await canEnter(directory, user))) return false
    if (directory === dirname(directory)) return true
  }
}

/**
 * Lets the group of `user` enter `directory`, and neither list nor write it; for a directory of this
 * process's own.
 */
export async function admit(directory: string, user: ServerUser): Promise<void> {
  if (await canEnter(directory, user)) return
  await chown(directory, process.getuid?.() ?? 0, user.gid)
  await chmod(directory, 0o710)
}

async function canEnter(directory: string, user: ServerUser): Promise<boolean> {
  const { uid, gid, mode } = await stat(directory)
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
  return (mode & bit) !== 0
}
