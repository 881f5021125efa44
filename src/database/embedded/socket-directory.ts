import { createHash } from 'node:crypto'
import { chown, lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerUser } from './server-user.ts'

// node-postgres and libpq derive the socket's name from the port.
export const SOCKET_PORT = 5432
export const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`
// sun_path holds 108 bytes on Linux and 104 on macOS and the BSDs, the closing zero included.
const SOCKET_PATH_MAX_BYTES = 103

/**
 * A directory of mode 0700 for the socket, which `user` (null: this process's own) owns: in `home`, or below
 * the temporary directory when that path is too long. PostgreSQL asks for no password, so this directory is
 * the protection.
 */
export async function makeSocketDirectory(home: string, user: ServerUser | null): Promise<string> {
  const short = join(tmpdir(), `vestibule-${createHash('sha256').update(home).digest('hex').slice(0, 16)}`)
  const path = [join(home, 'socket'), short].find(
    (candidate) => Buffer.byteLength(join(candidate, SOCKET_NAME)) <= SOCKET_PATH_MAX_BYTES,
  )
  if (!path) throw new Error(`Both ${home} and ${tmpdir()} are too long to hold a Unix socket`)
  const isNew = await mkdir(path, { recursive: true, mode: 0o700 })
  if (isNew && user) await chown(path, user.uid, user.gid)
  const { mode, uid } = await lstat(path)
  // The name below the temporary directory can be guessed, and its first owner could read everything that is
  // sent.
  if ((mode & 0o170777) !== 0o040700 || uid !== (user?.uid ?? process.getuid?.()))
    throw new Error(`${path} must be a directory of ${user ? `user ${user.uid}` : 'this user'}, mode 0700`)
  return path
}
