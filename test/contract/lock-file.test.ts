import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

type Entry = {
  version?: string
  integrity?: string
  link?: boolean
  dev?: boolean
  optional?: boolean
  resolved?: string
}
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Entry>
}
/** This repository: the server, and the workspace of the console with its link. */
const OWN_PATHS = ['', 'console', 'node_modules/@vestibule/console']
const entries = Object.entries(packages).filter(([path]) => !OWN_PATHS.includes(path))

describe('the lock file', () => {
  const bare = entries.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? ''))

  test('has the integrity of every package of the image and of a development install on Linux', () => {
    // Binaries of Biome and Knip for other platforms, which the registry of the lock file's machine did not have.
    const isForeignTool = ([path, { dev, optional }]: [string, Entry]) =>
      dev && optional && /^node_modules\/@(biomejs\/cli|oxc-parser\/binding)-/.test(path)
    expect(bare.filter((entry) => !isForeignTool(entry)).map(([path]) => path)).toEqual([])
    expect(
      bare.map(([path]) => path).filter((path) => /linux-x64(-gnu)?$|linux-arm64(-gnu)?$/.test(path)),
    ).toEqual([])
    expect(bare.length).toBeLessThanOrEqual(23)
  })

  test('takes every package from the registry', () => {
    const elsewhere = entries.filter(
      ([, { resolved, link }]) => link || (resolved && !resolved.startsWith('https://registry.npmjs.org/')),
    )
    expect(elsewhere.map(([path]) => path)).toEqual([])
  })

  test('is installed without a warning, as of a package that asks for a newer Node', async ({
    onTestFinished,
  }) => {
    const directory = await mkdtemp(join(tmpdir(), 'vestibule-install-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    for (const file of ['package.json', 'package-lock.json']) await cp(file, join(directory, file))
    const { stderr } = await promisify(execFile)('npm', ['ci', '--dry-run', '--offline'], { cwd: directory })
    expect(stderr).toBe('')
  })
})

describe('the image', () => {
  test('has no development dependency, test or document', () => {
    const dockerfile = readFileSync('Dockerfile', 'utf8')
    expect(dockerfile).toContain('npm prune --omit=dev && rm dist/chunks/development.routes-*')
    const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
    const copied = [...final.matchAll(/^COPY (?:--from=build )?(.+) \S+$/gm)].flatMap(([, paths]) =>
      paths?.split(' '),
    )
    expect(copied.toSorted()).toEqual(
      ['/app/dist', '/app/node_modules', 'LICENSE', 'package.json', 'prisma/migrations'].toSorted(),
    )
    const context = readFileSync('.dockerignore', 'utf8').trim().split('\n')
    expect(context[0]).toBe('*')
    for (const name of ['test', 'docs', '.vestibule', '.env', 'node_modules'])
      expect(context).not.toContain(`!${name}`)
  })
})
