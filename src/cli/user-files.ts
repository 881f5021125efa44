import { type FileHandle, open, readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ctx } from '../context/context.ts'
import { InvalidInput } from '../core/errors.ts'
import { listUsers } from '../users/list/user-list.ts'
import { readHashConfig } from '../users/sources/firebase.ts'
import { readOrganizations } from '../users/sources/keycloak.ts'
import { convertExport, SOURCE_NAMES } from '../users/transfer/convert-export.ts'
import { exportUsers } from '../users/transfer/export.ts'
import { importUsers } from '../users/transfer/import.ts'
import { decodeChunks, importUsersFromCsv } from '../users/transfer/import-csv.ts'
import { createTenantCtx, defineDatabaseCommand, TENANT_ARG, withoutUndefined } from './command.ts'
import { createFileError } from './file-errors.ts'
import { createImportTally, formatCount } from './import-tally.ts'
import { startProgress } from './progress.ts'

const FILE_ARG = {
  type: 'positional',
  required: true,
  description: 'NDJSON; - is standard input or output',
} as const
/**
 * Opens the file of an option. A new one is readable by the caller only, because it contains personal data. Throws
 * InvalidInput.
 */
const openFile = (option: string, path: string, flags: 'r' | 'w'): Promise<FileHandle> =>
  open(path, flags, 0o600).then(
    async (file) => {
      if (!(await file.stat()).isDirectory()) return file
      await file.close()
      throw createFileError(option, { code: 'EISDIR' }, 'read')
    },
    (error: unknown) => {
      throw createFileError(option, error, flags === 'r' ? 'read' : 'write')
    },
  )

/** The command line has no access token: it may read and write all fields. */
export async function createUsersCtx(tenant: string): Promise<Ctx> {
  return { ...(await createTenantCtx(tenant)), scopes: new Set(['users:read_app_metadata']) }
}

const toNdjson = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('')

export const importCommand = defineDatabaseCommand({
  name: 'import',
  description:
    'Create or update users from NDJSON, or from a .csv file; exits with 1 when a line was rejected',
  args: {
    file: FILE_ARG,
    tenant: TENANT_ARG,
    'match-by': {
      type: 'string',
      description: 'Field that matches a line to a user: externalId, email or phoneNumber',
    },
    'start-line': { type: 'string', description: 'Number of the first line to import' },
    columns: {
      type: 'string',
      description: 'Of a CSV file: the field of each column, with commas; - leaves a column out',
    },
    from: { type: 'string', description: `Export of another system: ${SOURCE_NAMES.join(', ')}` },
    'hash-config': {
      type: 'string',
      description: 'Of Firebase: file with the hash parameters of the project',
    },
    providers: {
      type: 'string',
      description: 'Of another system: identity provider here of each one there, as google-oauth2=google',
    },
    roles: {
      type: 'string',
      description: 'Of another system: role here of each one there, as Editors=editor; none leaves it behind',
    },
    'rp-id': {
      type: 'string',
      description: 'Of Keycloak: RP ID of its passkeys, which come along if it is that of this deployment',
    },
    organizations: {
      type: 'string',
      description: 'Of Keycloak: file of the realm, whose organizations and members come along',
    },
    charset: { type: 'string', description: 'Of a CSV file: utf-8 (the default) or windows-1252' },
    'dry-run': { type: 'boolean', description: 'Write nothing, and report what the import would do' },
    results: { type: 'string', description: 'File for the result of each line, as NDJSON' },
  },
  run: async (args) => {
    const ctx = await createUsersCtx(args.tenant)
    const file = args.file === '-' ? null : await openFile('file', args.file, 'r')
    try {
      const results = args.results === undefined ? null : await openFile('results', args.results, 'w')
      try {
        return await importFile(ctx, args, file, results)
      } finally {
        await results?.close()
      }
    } finally {
      await file?.close()
    }
  },
})

type ImportArgs = {
  file: string
  'match-by'?: string
  'start-line'?: string
  columns?: string
  charset?: string
  from?: string
  'hash-config'?: string
  providers?: string
  roles?: string
  'rp-id'?: string
  organizations?: string
  'dry-run'?: boolean
  json?: boolean
}

/** The lines of the export of another system. Throws InvalidInput. */
async function convertFile(
  { from = '', 'hash-config': path, 'rp-id': rpId, ...args }: ImportArgs,
  chunks: AsyncIterable<Uint8Array>,
  isCsv: boolean,
): Promise<AsyncIterable<Uint8Array>> {
  if (!SOURCE_NAMES.includes(from))
    throw new InvalidInput([{ field: 'from', description: `must be one of ${SOURCE_NAMES.join(', ')}` }])
  const text =
    path === undefined
      ? null
      : await readFile(path, 'utf8').catch((error: unknown) => {
          throw createFileError('hash-config', error, 'read')
        })
  const readPairs = (option: 'providers' | 'roles', example: string): Record<string, string> => {
    const pairs = (args[option] ?? '')
      .split(',')
      .flatMap((pair) => (pair.trim() ? [pair.trim().split('=')] : []))
    if (pairs.some((pair) => pair.length !== 2))
      throw new InvalidInput([{ field: option, description: `must be pairs such as ${example}` }])
    return Object.fromEntries(pairs)
  }
  const providers = readPairs('providers', 'google-oauth2=google')
  const roles = readPairs('roles', 'Editors=editor')
  const realm =
    args.organizations === undefined ? null : await openFile('organizations', args.organizations, 'r')
  const organizations = realm
    ? await readOrganizations(decodeChunks(realm.createReadStream(), 'utf-8'))
    : new Map<string, object[]>()
  const hash = text === null ? null : readHashConfig(text)
  return convertExport(chunks, {
    from,
    isCsv,
    config: { hash, providers, roles, rpId: rpId ?? null, organizations },
  })
}

/** Imports the users of a file, or of standard input, and writes the result of each line to `results`. */
async function importFile(ctx: Ctx, args: ImportArgs, file: FileHandle | null, results: FileHandle | null) {
  const total = file && (await file.stat()).size
  const input: Readable = file ? file.createReadStream() : process.stdin
  let bytes = 0
  async function* countBytes() {
    for await (const chunk of input) {
      bytes += (chunk as Buffer).length
      yield chunk as Buffer
    }
  }
  const isCsv = /\.csv$/i.test(args.file) || args.columns !== undefined || args.charset !== undefined
  const isDryRun = args['dry-run'] === true
  const options = withoutUndefined({
    matchBy: args['match-by'],
    startLine: args['start-line'],
    columns: args.columns,
    charset: args.charset,
    dryRun: isDryRun || undefined,
  })
  const converted = args.from === undefined ? null : await convertFile(args, countBytes(), isCsv)
  const importLines = isCsv && !converted ? importUsersFromCsv : importUsers
  const lines = importLines(ctx, converted ?? countBytes(), options, { maxLines: Number.POSITIVE_INFINITY })
  const tally = createImportTally(isDryRun)
  const progress = startProgress({ total, isShown: args.json !== true })
  let isStopped = false
  const stop = () => {
    isStopped = true
    input.destroy()
  }
  process.once('SIGINT', stop)
  try {
    for await (const some of lines) {
      tally.add(some)
      await results?.appendFile(toNdjson(some))
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
  }
  if (isStopped) process.stderr.write(`\n${tally.onward()}\n`)
  if (isStopped || tally.summary.failed > 0) process.exitCode = isStopped ? 130 : 1
  if (args.json !== true && !results)
    for (const reason of tally.refusals()) process.stderr.write(`${reason}\n`)
  return { text: tally.text(), json: tally.summary }
}

export const exportCommand = defineDatabaseCommand({
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
    const output = isStdout ? process.stdout : (await openFile('file', args.file, 'w')).createWriteStream()
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
