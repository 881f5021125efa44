import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ctx } from '../core/context.ts'
import { exportUsers } from '../users/export.ts'
import { importUsers } from '../users/import.ts'
import { listUsers } from '../users/user-list.ts'
import { createTenantCtx, defineCommandGroup, defineDatabaseCommand, TENANT_ARG } from './command.ts'
import { createImportTally, formatCount } from './import-tally.ts'
import { startProgress } from './progress.ts'

const FILE_ARG = {
  type: 'positional',
  required: true,
  description: 'NDJSON; - is standard input or output',
} as const
/** The files contain personal data, so only the caller may read them. */
const PRIVATE_FILE = { mode: 0o600 }

/** The command line has no access token: it may read and write all fields. */
async function createUsersCtx(tenant: string): Promise<Ctx> {
  return { ...(await createTenantCtx(tenant)), scopes: new Set(['users:read_app_metadata']) }
}

const toNdjson = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/**
 * Writes lines. Resolves when they are written, so that a slow disk slows the import down instead of filling
 * memory.
 */
const writeLines = (stream: WriteStream, lines: readonly object[]): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(toNdjson(lines), (error) => (error ? reject(error) : resolve()))
  })

/** Removes the options that were not given. */
const withoutUndefined = (options: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(options).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )

const importCommand = defineDatabaseCommand({
  name: 'import',
  description: 'Create or update users, one per line; exits with 1 when a line was rejected',
  args: {
    file: FILE_ARG,
    tenant: TENANT_ARG,
    'match-by': {
      type: 'string',
      description: 'Field that matches a line to a user: externalId, email or phoneNumber',
    },
    'start-line': { type: 'string', description: 'Number of the first line to import' },
    results: { type: 'string', description: 'File for the result of each line, as NDJSON' },
  },
  run: async (args) => {
    const ctx = await createUsersCtx(args.tenant)
    const isStdin = args.file === '-'
    const total = isStdin ? null : (await stat(args.file)).size
    const input: Readable = isStdin ? process.stdin : createReadStream(args.file)
    let bytes = 0
    async function* countBytes() {
      for await (const chunk of input) {
        bytes += (chunk as Buffer).length
        yield chunk as Buffer
      }
    }
    const options = withoutUndefined({ matchBy: args['match-by'], startLine: args['start-line'] })
    const lines = importUsers(ctx, countBytes(), options, { maxLines: Number.POSITIVE_INFINITY })
    const tally = createImportTally()
    const progress = startProgress({ total, isShown: args.json !== true })
    const results = args.results === undefined ? null : createWriteStream(args.results, PRIVATE_FILE)
    let isStopped = false
    const stop = () => {
      isStopped = true
      input.destroy()
    }
    process.once('SIGINT', stop)
    try {
      for await (const some of lines) {
        tally.add(some)
        if (results) await writeLines(results, some)
        progress.report(bytes, tally.progress())
        if (isStopped) break
      }
    } catch (error) {
      if (!isStopped) {
        process.stderr.write(`\n${tally.onward()}\n`)
        throw error
      }
    } finally {
      process.off('SIGINT', stop)
      input.destroy()
      progress.stop()
      results?.end()
    }
    if (isStopped) process.stderr.write(`\n${tally.onward()}\n`)
    if (isStopped || tally.summary.failed > 0) process.exitCode = isStopped ? 130 : 1
    if (args.json !== true && !results)
      for (const reason of tally.refusals()) process.stderr.write(`${reason}\n`)
    return { text: tally.text(), json: tally.summary }
  },
})

const exportCommand = defineDatabaseCommand({
  name: 'export',
  description: 'Write all users, one per line, in the format of import',
  args: {
    file: FILE_ARG,
    tenant: TENANT_ARG,
    'after-id': { type: 'string', description: 'Export only users after this user id' },
  },
  run: async (args) => {
    const ctx = await createUsersCtx(args.tenant)
    const isStdout = args.file === '-'
    const users = exportUsers(ctx, withoutUndefined({ afterId: args['after-id'] }))
    const total = args['after-id'] === undefined ? await (await listUsers(ctx, {})).countAll() : null
    const progress = startProgress({ total, isShown: args.json !== true && !isStdout })
    let count = 0
    async function* renderLines() {
      for await (const some of users) {
        yield toNdjson(some)
        count += some.length
        progress.report(count, formatCount(count, 'user'))
      }
    }
    const output = isStdout ? process.stdout : createWriteStream(args.file, PRIVATE_FILE)
    try {
      await pipeline(Readable.from(renderLines()), output, { end: !isStdout })
    } catch (error) {
      // The reader closed the pipe, as `head` does.
      if (!isStdout || (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    } finally {
      progress.stop()
    }
    return {
      text: `Exported ${formatCount(count, 'user')}.`,
      json: { users: count },
      hasWrittenOutput: isStdout,
    }
  },
})

export const usersCommand = defineCommandGroup('users', 'Import and export of users', {
  import: importCommand,
  export: exportCommand,
})
