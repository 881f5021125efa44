import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'

type Diagnostic = { category: string; message: string; location: { path: string; start: { line: number } } }

const root = join(import.meta.dirname, '../..')
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')

const imports = (...specifiers: string[]) =>
  specifiers
    .map((specifier, index) => `import { a as a${index} } from '${specifier}'\nconsole.log(a${index})`)
    .join('\n')

/** path → imports that the linter must refuse there, and imports that it must let pass. */
const layers: Record<string, { refused: string[]; allowed: string[] }> = {
  'src/users/service.ts': {
    refused: [
      'h3',
      'graphql',
      'graphql/index.js',
      'graphql-yoga',
      'graphql-ws/use/ws',
      '@pothos/core',
      'preact',
      'preact/hooks',
      'preact-render-to-string',
      'pg',
      './users.graphql.ts',
      '../clients/clients.rest.ts',
      '../oidc/sign-in.pages.tsx',
      '../oidc/oidc.routes.ts',
      '../graphql/builder.ts',
      '../rest/rest.ts',
      '../app.ts',
      '../main.ts',
      '../cli.ts',
    ],
    allowed: ['../db.ts', '../errors.ts', '../events.ts', './users.sql.ts', '../sessions/sessions.ts', 'zod'],
  },
  'src/oidc/token.ts': {
    refused: ['h3', './oidc.routes.ts', '../rest/rest.ts'],
    allowed: ['../users/users.ts', 'jose'],
  },
  'src/users/users.sql.ts': { refused: ['h3', '../app.ts', './users.graphql.ts'], allowed: ['../db.ts'] },
  'src/users/users.fields.ts': {
    refused: ['graphql', '../db.ts', './users.rest.ts'],
    allowed: ['../fields.ts', 'zod'],
  },
  'src/errors.ts': {
    refused: [
      './users/users.ts',
      './oidc/claims.ts',
      './db.ts',
      './events.ts',
      './delivery/mail.ts',
      './rest/rest.ts',
      'pg',
    ],
    allowed: ['./env.ts', 'h3'],
  },
  'src/page.ts': { refused: ['./clients/clients.fields.ts', './app.ts'], allowed: ['./crypto.ts'] },
  'src/db.ts': {
    refused: ['./users/users.ts', './graphql/loaders.ts', './app.ts'],
    allowed: ['pg', './env.ts'],
  },
  'src/migrate.ts': { refused: ['./tenants/tenants.ts'], allowed: ['pg'] },
  'src/events.ts': { refused: ['./users/users.ts', './app.ts', 'pg'], allowed: ['./db.ts', 'ioredis'] },
  'src/limits.ts': { refused: ['./sessions/sessions.ts'], allowed: ['./env.ts'] },
  'src/delivery/mail.ts': {
    refused: ['../passcodes/passcodes.ts', '../rest/rest.ts'],
    allowed: ['../env.ts', 'nodemailer'],
  },
  'src/users/users.rest.ts': {
    refused: [
      './users.graphql.ts',
      '../db.ts',
      './users.sql.ts',
      '../graphql/builder.ts',
      '../app.ts',
      'graphql',
      'pg',
    ],
    allowed: ['./users.ts', '../rest/auth.ts', 'h3'],
  },
  'src/users/users.graphql.ts': {
    refused: [
      './users.rest.ts',
      '../db.ts',
      './users.sql.ts',
      '../graphql/schema.ts',
      '../graphql/server.ts',
      '../rest/rest.ts',
      'h3',
    ],
    allowed: ['./users.ts', '../graphql/builder.ts', '@pothos/core', 'graphql'],
  },
  'src/oidc/sign-in.pages.tsx': {
    refused: ['../db.ts', '../app.ts', '../users/users.graphql.ts', '../graphql/builder.ts'],
    allowed: ['preact', './interactions.ts'],
  },
  'src/oidc/oidc.routes.ts': {
    refused: ['../db.ts', '../app.ts', '../users/users.rest.ts', '../users/users.graphql.ts'],
    allowed: ['h3', './token.ts', './sign-in.pages.tsx'],
  },
  'src/graphql/schema.ts': {
    refused: ['../users/users.rest.ts', '../rest/rest.ts', '../app.ts', '../oidc/oidc.routes.ts'],
    allowed: ['../users/users.graphql.ts', '../db.ts', 'graphql-yoga'],
  },
  'src/rest/rest.ts': {
    refused: ['../users/users.graphql.ts', '../graphql/server.ts', 'graphql', '../main.ts'],
    allowed: ['../users/users.rest.ts', 'h3'],
  },
  'src/app.ts': {
    refused: ['./main.ts', './cli.ts', 'pg'],
    allowed: ['./rest/rest.ts', './graphql/server.ts'],
  },
  'src/main.ts': { refused: ['pg'], allowed: ['./app.ts'] },
}

const snippets: Record<string, string> = {
  'src/bad/exported.ts': 'export default 1\n',
  'src/bad/environment.ts': 'export const port = process.env.PORT\n',
  'src/bad/barrel.ts': "export { run } from './promises.ts'\n",
  'src/bad/everything.ts': "export * from './promises.ts'\n",
  'src/bad/types.ts': "import { run } from './promises.ts'\nexport type Run = typeof run\n",
  'src/bad/promises.ts':
    'export async function run(): Promise<void> {\n  await Promise.resolve()\n}\nrun()\n',
  'src/bad/misused.ts':
    'export async function run(): Promise<void> {\n  await Promise.resolve()\n}\nif (run()) console.log(1)\n',
  'src/bad/cycle-a.ts': "import { b } from './cycle-b.ts'\nexport const a = (): unknown => b\n",
  'src/bad/cycle-b.ts': "import { a } from './cycle-a.ts'\nexport const b = (): unknown => a\n",
  'src/env.ts': 'export const port = process.env.PORT\n',
  'codegen.ts': 'export default process.env\n',
  'vitest.config.ts': 'export default process.env\n',
  'prisma/prisma.config.ts': 'export default process.env\n',
  'src/sessions/sessions.sql.ts': "import type { PoolClient } from 'pg'\nexport type Client = PoolClient\n",
  'src/clients/clients.sql.ts': "import { Pool } from 'pg'\nconsole.log(Pool)\n",
}

test('an import that points up or across is refused, and only that one', async () => {
  const files = Object.fromEntries(
    Object.entries(layers).map(([path, { refused }]) => [path, imports(...refused)]),
  )
  expect(refusedImports(await lint(files))).toEqual(
    Object.fromEntries(Object.entries(layers).map(([path, { refused }]) => [path, refused.length])),
  )
})

test('an import that points down passes', async () => {
  const files = Object.fromEntries(
    Object.entries(layers).map(([path, { allowed }]) => [path, imports(...allowed)]),
  )
  expect(refusedImports(await lint(files))).toEqual({})
})

describe('in a file of its own', () => {
  let diagnostics: Diagnostic[]
  beforeAll(async () => {
    diagnostics = await lint(snippets)
  })

  test.each([
    ['src/bad/exported.ts', ['style/noDefaultExport']],
    ['src/bad/environment.ts', ['style/noProcessEnv']],
    ['src/bad/barrel.ts', ['performance/noBarrelFile']],
    ['src/bad/everything.ts', ['performance/noBarrelFile', 'performance/noReExportAll']],
    ['src/bad/types.ts', ['style/useImportType']],
    ['src/bad/promises.ts', ['nursery/noFloatingPromises']],
    ['src/bad/misused.ts', ['nursery/noMisusedPromises']],
    ['src/bad/cycle-a.ts', ['suspicious/noImportCycles']],
    ['src/bad/cycle-b.ts', ['suspicious/noImportCycles']],
    ['src/clients/clients.sql.ts', ['style/noRestrictedImports']],
    ['src/sessions/sessions.sql.ts', []],
    ['src/env.ts', []],
    ['codegen.ts', []],
    ['vitest.config.ts', []],
    ['prisma/prisma.config.ts', []],
  ])('%s meets %j', (path, rules) => {
    expect(rulesAt(diagnostics, path)).toEqual(rules)
  })
})

/** Lints the files in a copy outside the tree: nothing is left in src, even when the run is killed. */
async function lint(files: Record<string, string>): Promise<Diagnostic[]> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-lint-'))
  try {
    await cp(join(root, 'biome.json'), join(directory, 'biome.json'))
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true })
      await writeFile(join(directory, path), text)
    }
    const command = [biome, 'lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json', '.']
    const run = promisify(execFile)(process.execPath, command, {
      cwd: directory,
      maxBuffer: 16 * 1024 * 1024,
    })
    // Exit code 1 is what faulty files give; anything else left no report and fails below.
    const { stdout } = await run.catch((error: { stdout: string }) => error)
    return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const rulesAt = (diagnostics: Diagnostic[], path: string): string[] =>
  diagnostics
    .filter((found) => found.location.path === path)
    .map((found) => found.category.replace('lint/', ''))
    .sort()

/** The lines refused in each file, counted once whatever number of patterns names them. */
function refusedImports(diagnostics: Diagnostic[]): Record<string, number> {
  const lines: Record<string, Set<number>> = {}
  for (const { category, location } of diagnostics) {
    if (category !== 'lint/style/noRestrictedImports') continue
    lines[location.path] ??= new Set()
    lines[location.path]?.add(location.start.line)
  }
  return Object.fromEntries(Object.entries(lines).map(([path, found]) => [path, found.size]))
}
