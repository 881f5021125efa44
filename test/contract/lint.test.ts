import { describe, expect, test } from 'vitest'
import { lint, listRules } from '../support/lint.ts'

describe('the linter', () => {
  const SNIPPETS: [title: string, path: string, text: string, rules: string[]][] = [
    ['reports a default export', 'src/bad/exported.ts', 'export default 1\n', ['style/noDefaultExport']],
    [
      'reports a read of the environment',
      'src/bad/environment.ts',
      'export const port = process.env.PORT\n',
      ['style/noProcessEnv'],
    ],
    [
      'reports a named export from another file',
      'src/bad/barrel.ts',
      "export { run } from './promises.ts'\n",
      ['performance/noBarrelFile'],
    ],
    [
      'reports an export of everything from another file',
      'src/bad/everything.ts',
      "export * from './promises.ts'\n",
      ['performance/noBarrelFile', 'performance/noReExportAll'],
    ],
    [
      'reports a type that is imported as a value',
      'src/bad/types.ts',
      "import { run } from './promises.ts'\nexport type Run = typeof run\n",
      ['style/useImportType'],
    ],
    [
      'reports a floating promise',
      'src/bad/promises.ts',
      'export async function run(): Promise<void> {\n  await Promise.resolve()\n}\nrun()\n',
      ['nursery/noFloatingPromises'],
    ],
    [
      'reports a promise as a condition',
      'src/bad/misused.ts',
      'export async function run(): Promise<void> {\n  await Promise.resolve()\n}\nif (run()) console.log(1)\n',
      ['nursery/noMisusedPromises'],
    ],
    [
      'reports the first file of an import cycle',
      'src/bad/cycle-a.ts',
      "import { b } from './cycle-b.ts'\nexport const a = (): unknown => b\n",
      ['suspicious/noImportCycles'],
    ],
    [
      'reports the second file of an import cycle',
      'src/bad/cycle-b.ts',
      "import { a } from './cycle-a.ts'\nexport const b = (): unknown => a\n",
      ['suspicious/noImportCycles'],
    ],
    [
      'permits core/env.ts to read the environment',
      'src/core/env.ts',
      'export const port = process.env.PORT\n',
      [],
    ],
    ['permits a default export in codegen.ts', 'codegen.ts', 'export default process.env\n', []],
    ['permits a default export in vitest.config.ts', 'vitest.config.ts', 'export default process.env\n', []],
    [
      'permits a default export in prisma.config.ts',
      'prisma/prisma.config.ts',
      'export default process.env\n',
      [],
    ],
  ]

  const diagnostics = lint(Object.fromEntries(SNIPPETS.map(([, path, text]) => [path, text])))

  test.each(SNIPPETS)('%s', async (_title, path, _text, rules) => {
    expect(listRules(await diagnostics, path)).toEqual(rules)
  })
})
