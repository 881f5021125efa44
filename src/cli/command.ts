import { createInterface } from 'node:readline/promises'
import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty'
import { findTenant } from '../access/tenant-cache.ts'
import { type Ctx, createPlatformCtx } from '../context/context.ts'
import { AppError, type FieldIssue, InvalidInput, NotFound } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import { toAppError } from '../core/to-app-error.ts'
import { closeRuntime, openRuntime } from '../server/runtime.ts'
import { explainStartError } from '../server/start-errors.ts'
import { ensureTenant } from '../tenants/tenants.ts'
import { parseMembers } from './set-option.ts'

/**
 * The result of a command: `text` for people, `json` with `--json`. It is printed on stderr when the command
 * wrote its data to stdout.
 */
export type CommandResult = { text: string; json: unknown; hasWrittenOutput?: boolean; exitCode?: number }

const JSON_ARG = { json: { type: 'boolean', description: 'Print JSON' } } as const satisfies ArgsDef

const toCamelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * Citty ignores unknown options. Throws InvalidInput for them, so that a mistyped option is not overlooked.
 */
function requireKnownArgs(args: ParsedArgs, known: ArgsDef): void {
  const names = new Set(['_', 'json', ...Object.keys(known).flatMap((name) => [name, toCamelCase(name)])])
  const unknown = Object.keys(args).filter((name) => !names.has(name) && !names.has(toCamelCase(name)))
  const positionals = Object.values(known).filter(({ type }) => type === 'positional').length
  const surplus = args._.slice(positionals)
  const empty = Object.keys(known).filter((name) => known[name]?.required && args[name] === '')
  const issues = [
    ...unknown.map((name) => ({ field: `--${name}`, description: 'is not an option of this command' })),
    ...surplus.map((word) => ({ field: word, description: 'is an unexpected argument' })),
    ...empty.map((name) => ({ field: name, description: 'must not be empty' })),
  ]
  if (issues.length > 0) throw new InvalidInput(issues, 'The command is not valid.')
}

/**
 * Converts a thrown error for output. An unexpected error keeps its text, because the reader is the operator.
 */
export function toErrorReport(thrown: unknown): { code: string; message: string; fields: FieldIssue[] } {
  const { code, message, fields, cause } = toAppError(thrown)
  const sentence = explainStartError(thrown)
  if (sentence) return { code: 'UNAVAILABLE', message: sentence, fields }
  const hidden = code === 'INTERNAL_SERVER_ERROR' || code === 'UNAVAILABLE' ? cause : undefined
  return { code, message: hidden instanceof Error ? hidden.message || message : message, fields }
}

/** The option of a field: `overlapSeconds` of a service is `--overlap-seconds` on the command line. */
function toArgumentName(field: string, known: ArgsDef): string {
  const [name, ...rest] = field.split('.')
  const option = Object.keys(known).find(
    (each) =>
      known[each]?.type !== 'positional' &&
      [toCamelCase(each), `${toCamelCase(each)}Seconds`].includes(name ?? ''),
  )
  return option ? [`--${option}`, ...rest].join('.') : field
}

function reportError(thrown: unknown, known: ArgsDef, asJson: boolean): void {
  const described = toErrorReport(thrown)
  const issues = described.fields.map((issue) => ({ ...issue, field: toArgumentName(issue.field, known) }))
  const failure = { ...described, fields: issues }
  const fields = issues.map(({ field, description }) => `\n  ${field}: ${description}`)
  process.stderr.write(
    asJson ? `${JSON.stringify({ error: failure })}\n` : `${failure.message}${fields.join('')}\n`,
  )
  process.exitCode = 1
}

type CommandDefinition<Args extends ArgsDef> = {
  name: string
  description: string
  args: Args
  /** `members` are those of `--set`, if the command has it. */
  run: (args: ParsedArgs<Args>, members: Record<string, unknown>) => Promise<CommandResult>
}

/** Defines a command with `--json`. An error prints every invalid field and sets exit code 1. */
export function defineReportingCommand<const Args extends ArgsDef>(
  definition: CommandDefinition<Args>,
): CommandDef {
  const { name, description, args: own, run } = definition
  return defineCommand({
    meta: { name, description },
    args: { ...own, ...JSON_ARG },
    run: async ({ args, rawArgs }) => {
      const asJson = args.json === true
      // Log lines would mix with the output of the command.
      log.level = 'silent'
      try {
        requireKnownArgs(args as unknown as ParsedArgs, own)
        const members = 'set' in own ? parseMembers(rawArgs) : {}
        const { text, json, hasWrittenOutput, exitCode } = await run(
          args as unknown as ParsedArgs<Args>,
          members,
        )
        const output = hasWrittenOutput ? process.stderr : process.stdout
        output.write(asJson ? `${JSON.stringify(json)}\n` : `${text}\n`)
        if (exitCode !== undefined) process.exitCode = exitCode
      } catch (error) {
        reportError(error, own, asJson)
      }
    },
  }) as CommandDef
}

/** Calls `use` with the database: that of DATABASE_URL, or the embedded one, which it shares with a running server. */
export async function withRuntime<T>(use: () => Promise<T>): Promise<T> {
  try {
    await openRuntime({ canCreate: false })
    await ensureTenant(SYSTEM_TENANT, { friendlyName: 'System' })
    return await use()
  } finally {
    await closeRuntime()
  }
}

/** Defines a command that uses the database. */
export const defineDatabaseCommand = <const Args extends ArgsDef>(
  definition: CommandDefinition<Args>,
): CommandDef =>
  defineReportingCommand({
    ...definition,
    run: (args, members) => withRuntime(() => definition.run(args, members)),
  })

/** Defines a group of commands, such as `tenant create` and `tenant list`. `alias` is another name. */
export const defineCommandGroup = (
  name: string,
  description: string,
  subCommands: Record<string, CommandDef>,
  alias?: string,
): CommandDef => defineCommand({ meta: { name, description, ...(alias && { alias }) }, subCommands })

/** The option that selects the tenant. */
export const TENANT_ARG = { type: 'string', required: true, description: 'Slug of the tenant' } as const

/** The tenant of a command about a tenant itself: `--tenant`, or the first argument. */
export const SLUG_ARGS = {
  slug: { type: 'positional', required: false, description: 'Slug of the tenant, instead of --tenant' },
  tenant: { type: 'string', description: 'Slug of the tenant' },
} as const

/** The slug that was given in one of both ways. Throws InvalidInput when none was, or two. */
export function readSlug({ slug, tenant }: { slug?: string; tenant?: string }): string {
  if (slug !== undefined && tenant !== undefined && slug !== tenant)
    throw new InvalidInput(
      [{ field: '--tenant', description: `is not ${slug}` }],
      'The command is not valid.',
    )
  const given = tenant ?? slug
  if (given === undefined)
    throw new InvalidInput([{ field: '--tenant', description: 'is required' }], 'The command is not valid.')
  return given
}

/** Formats the members of an object, each as JSON. */
export const formatMembers = (members: object, title = 'FIELD'): string =>
  formatTable([
    [title, 'VALUE'],
    ...Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]),
  ])

/** The platform context for a tenant. Throws NotFound. */
export async function createTenantCtx(tenant: string): Promise<Ctx> {
  if (!(await findTenant(tenant))) throw new NotFound('tenant')
  return createPlatformCtx(tenant)
}

/**
 * Asks for confirmation by typing `word` when stdin is a terminal. Throws AppError when another word is
 * typed.
 */
export async function confirmDeletion(warning: string, word: string): Promise<void> {
  if (!process.stdin.isTTY) return
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${warning} to continue: `)
  terminal.close()
  if (answer.trim() !== word) throw new AppError('BAD_USER_INPUT', 400, 'Nothing was deleted.')
}

/** Formats rows as aligned columns. */
export function formatTable(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Splits an option value at commas and spaces. */
export const splitWords = (option: string | undefined): string[] | undefined =>
  option === undefined ? undefined : option.split(/[\s,]+/).filter((word) => word !== '')

/** Removes the options that were not given. */
export const withoutUndefined = <Value>(options: Record<string, Value | undefined>): Record<string, Value> =>
  Object.fromEntries(
    Object.entries(options).filter((entry): entry is [string, Value] => entry[1] !== undefined),
  )
