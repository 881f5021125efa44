import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const ENVIRONMENT = 'export const port = process.env.PORT\n'
const PROMISE = 'export async function run(): Promise<void> {\n  await Promise.resolve()\n}\n'
/** The rules that files violate by the configuration of the repository. */
const FILES: [path: string, text: string, rules: string[]][] = [
  ['src/a/exported.ts', 'export default 1\n', ['style/noDefaultExport']],
  ['src/a/environment.ts', ENVIRONMENT, ['style/noProcessEnv']],
  ['src/a/barrel.ts', "export { run } from './floating.ts'\n", ['performance/noBarrelFile']],
  [
    'src/a/everything.ts',
    "export * from './floating.ts'\n",
    ['performance/noBarrelFile', 'performance/noReExportAll'],
  ],
  [
    'src/a/types.ts',
    "import { run } from './floating.ts'\nexport type Run = typeof run\n",
    ['style/useImportType'],
  ],
  ['src/a/floating.ts', `${PROMISE}run()\n`, ['nursery/noFloatingPromises']],
  ['src/a/misused.ts', `${PROMISE}if (run()) console.log(1)\n`, ['nursery/noMisusedPromises']],
  [
    'src/a/b.ts',
    "import { c } from './c.ts'\nexport const b = (): unknown => c\n",
    ['suspicious/noImportCycles'],
  ],
  [
    'src/a/c.ts',
    "import { b } from './b.ts'\nexport const c = (): unknown => b\n",
    ['suspicious/noImportCycles'],
  ],
  ['src/core/env.ts', ENVIRONMENT, []],
  ['codegen.ts', 'export default process.env\n', []],
  ['vitest.config.ts', 'export default process.env\n', []],
  ['prisma/prisma.config.ts', 'export default process.env\n', []],
]

test('the linter reports barrels, cycles, default exports, reads of the environment and lost promises', async () => {
  // A killed run leaves nothing in src.
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-lint-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await cp('biome.json', join(directory, 'biome.json'))
  for (const [path, text] of FILES) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')
  const command = [biome, 'lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json', '.']
  // The exit code is 1 for files with errors. Without a report, JSON.parse throws.
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: directory }).catch(
    (error: { stdout: string }) => error,
  )
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { category: string; location: { path: string } }[]
  }
  const listRules = (path: string) =>
    diagnostics
      .flatMap(({ category, location }) => (location.path === path ? category.replace('lint/', '') : []))
      .sort()
  expect(FILES.map(([path, text]) => [path, text, listRules(path)])).toEqual(FILES)
})
