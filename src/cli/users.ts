import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ctx } from '../ctx.ts'
import { exportUsers } from '../users/export.ts'
import { importUsers } from '../users/import.ts'
import { listUsers } from '../users/user-list.ts'
import { commandGroup, databaseCommand, TENANT, tenantCtx } from './command.ts'
import { createTally, plural } from './import-tally.ts'
import { startProgress } from './progress.ts'

const FILE = {
  type: 'positional',
  required: true,
  description: 'NDJSON; - is standard input or output',
} as const
/** What is said of people is for the caller's eyes. */
const PRIVATE = { mode: 0o600 }

/** The platform reads and writes everything. */
async function ctxOf(tenant: string): Promise<Ctx> {
  return { ...(await tenantCtx(tenant)), scopes: new Set(['users:read_app_metadata']) }
}

const toText = (lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Writes lines; resolves when they are written, so that a slow disk holds the import up and not the memory. */
const write = (stream: WriteStream, lines: readonly object[]): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(toText(lines), (error) => (error ? reject(error) : resolve()))
  })

/** Options of the command line by the names that the service has; those that were not given are left out. */
const given = (options: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(options).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )

const importCommand = databaseCommand({
  name: 'import',
  description: 'Create or change users, one a line; ends with 1 when a line was refused',
  args: {
    file: FILE,
    tenant: TENANT,
    'match-by': {
      type: 'string',
      description: 'What finds the user of a line: externalId, email or phoneNumber',
    },
    'start-line': { type: 'string', description: 'Line to go on from' },
    results: { type: 'string', description: 'File for the result of each line, as NDJSON' },
  },
  run: async (args) => {
    const ctx = await ctxOf(args.tenant)
    const isStdin = args.file === '-'
    const total = isStdin ? null : (await stat(args.file)).size
    const input: Readable = isStdin ? process.stdin : createReadStream(args.file)
    let bytes = 0
    async function* counted() {
      for await (const chunk of input) {
        bytes += (chunk as Buffer).length
        yield chunk as Buffer
      }
    }
    const options = given({ matchBy: args['match-by'], startLine: args['start-line'] })
    const lines = importUsers(ctx, counted(), options, { maxLines: Number.POSITIVE_INFINITY })
    const tally = createTally()
    const progress = startProgress({ total, isShown: args.json !== true })
    const results = args.results === undefined ? null : createWriteStream(args.results, PRIVATE)
    let isStopped = false
    const stop = () => {
      isStopped = true
      input.destroy()
    }
    process.once('SIGINT', stop)
    try {
      for await (const some of lines) {
        tally.add(some)
        if (results) await write(results, some)
        progress.at(bytes, tally.progress())
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

const exportCommand = databaseCommand({
  name: 'export',
  description: 'Write all users, one a line, as import takes them',
  args: {
    file: FILE,
    tenant: TENANT,
    'after-id': { type: 'string', description: 'Id of a user: only those behind it' },
  },
  run: async (args) => {
    const ctx = await ctxOf(args.tenant)
    const isStdout = args.file === '-'
    const users = exportUsers(ctx, given({ afterId: args['after-id'] }))
    const total = args['after-id'] === undefined ? await (await listUsers(ctx, {})).countAll() : null
    const progress = startProgress({ total, isShown: args.json !== true && !isStdout })
    let count = 0
    async function* texts() {
      for await (const some of users) {
        yield toText(some)
        count += some.length
        progress.at(count, plural(count, 'user'))
      }
    }
    const output = isStdout ? process.stdout : createWriteStream(args.file, PRIVATE)
    try {
      await pipeline(Readable.from(texts()), output, { end: !isStdout })
    } catch (error) {
      // Whoever reads has seen enough, as `head` does.
      if (!isStdout || (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    } finally {
      progress.stop()
    }
    return { text: `Exported ${plural(count, 'user')}.`, json: { users: count }, isOutputTaken: isStdout }
  },
})

export const usersCommand = commandGroup('users', 'Users of a tenant, by the file', {
  import: importCommand,
  export: exportCommand,
})
