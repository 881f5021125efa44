import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

type Diagnostic = { category: string; message: string; location: { path: string; start: { line: number } } }

const root = join(import.meta.dirname, '../..')
const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome')

/**
 * Lints files by the configuration of the repository, in a temporary directory: a killed run leaves nothing
 * in src.
 */
export async function lint(files: Record<string, string>): Promise<Diagnostic[]> {
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
    // The exit code is 1 for files with errors. Without a report, JSON.parse throws.
    const { stdout } = await run.catch((error: { stdout: string }) => error)
    return (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The rules that a file violates. */
export const listRules = (diagnostics: Diagnostic[], path: string): string[] =>
  diagnostics
    .filter((found) => found.location.path === path)
    .map((found) => found.category.replace('lint/', ''))
    .sort()
