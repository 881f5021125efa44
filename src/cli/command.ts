import { createInterface } from 'node:readline/promises'
import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from 'citty'
import { type Ctx, platformCtx, SYSTEM_TENANT } from '../ctx.ts'
import { AppError, describeError, type FieldFault, InvalidInput, NotFound } from '../errors.ts'
import { log } from '../log.ts'
import { closeRuntime, openRuntime } from '../runtime.ts'
import { findTenant } from '../tenants/tenant-cache.ts'
import { ensureTenant } from '../tenants/tenants.ts'

/** What a command came to: `text` for people, `json` for programs (`--json`); on stderr when its data took the output. */
export type Outcome = { text: string; json: unknown; isOutputTaken?: boolean }

const JSON_FLAG = { json: { type: 'boolean', description: 'Print JSON' } } as const satisfies ArgsDef

const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Citty takes whatever it is given; a mistyped option must not be passed over. */
function checkArgs(args: ParsedArgs, known: ArgsDef): void {
  const names = new Set(['_', 'json', ...Object.keys(known).flatMap((name) => [name, camelCase(name)])])
  const unknown = Object.keys(args).filter((name) => !names.has(name) && !names.has(camelCase(name)))
  const positionals = Object.values(known).filter(({ type }) => type === 'positional').length
  const surplus = args._.slice(positionals)
  const empty = Object.keys(known).filter((name) => known[name]?.required && args[name] === '')
  const faults = [
    ...unknown.map((name) => ({ field: `--${name}`, description: 'is not an option of this command' })),
    ...surplus.map((word) => ({ field: word, description: 'is one argument too many' })),
    ...empty.map((name) => ({ field: name, description: 'must not be empty' })),
  ]
  if (faults.length > 0) throw new InvalidInput(faults, 'The command was not understood.')
}

/** What was thrown, as a person or a program wants to read it. Anything unexpected keeps its own text: the reader is the operator. */
function describeFailure(thrown: unknown): { code: string; message: string; fields: FieldFault[] } {
  const { code, message, fields, cause } = describeError(thrown)
  const hidden = code === 'INTERNAL_SERVER_ERROR' || code === 'UNAVAILABLE' ? cause : undefined
  return { code, message: hidden instanceof Error ? hidden.message || message : message, fields }
}

/** A field by the option that it was given with: of a service's overlapSeconds, people typed --overlap-seconds. */
function asTyped(field: string, known: ArgsDef): string {
  const [name, ...rest] = field.split('.')
  const option = Object.keys(known).find(
    (each) =>
      known[each]?.type !== 'positional' &&
      [camelCase(each), `${camelCase(each)}Seconds`].includes(name ?? ''),
  )
  return option ? [`--${option}`, ...rest].join('.') : field
}

function report(thrown: unknown, known: ArgsDef, asJson: boolean): void {
  const described = describeFailure(thrown)
  const faults = described.fields.map((fault) => ({ ...fault, field: asTyped(fault.field, known) }))
  const failure = { ...described, fields: faults }
  const fields = faults.map(({ field, description }) => `\n  ${field}: ${description}`)
  process.stderr.write(
    asJson ? `${JSON.stringify({ error: failure })}\n` : `${failure.message}${fields.join('')}\n`,
  )
  process.exitCode = 1
}

/**
 * A command that works on the database: the one of DATABASE_URL, else the embedded one, through the socket of the
 * server that has it open. A failure prints every faulty field and ends with exit code 1.
 */
export function databaseCommand<const Args extends ArgsDef>(definition: {
  name: string
  description: string
  args: Args
  run: (args: ParsedArgs<Args>) => Promise<Outcome>
}): CommandDef {
  const { name, description, args: own, run } = definition
  return defineCommand({
    meta: { name, description },
    args: { ...own, ...JSON_FLAG },
    run: async ({ args }) => {
      const asJson = args.json === true
      // The output belongs to the command.
      log.level = 'silent'
      try {
        checkArgs(args as unknown as ParsedArgs, own)
        await openRuntime()
        await ensureTenant(SYSTEM_TENANT, { friendlyName: 'System' })
        const { text, json, isOutputTaken } = await run(args as unknown as ParsedArgs<Args>)
        const output = isOutputTaken ? process.stderr : process.stdout
        output.write(asJson ? `${JSON.stringify(json)}\n` : `${text}\n`)
      } catch (error) {
        report(error, own, asJson)
      } finally {
        await closeRuntime()
      }
    },
  }) as CommandDef
}

/** Commands under one name, such as `tenant create`. */
export const commandGroup = (
  name: string,
  description: string,
  subCommands: Record<string, CommandDef>,
): CommandDef => defineCommand({ meta: { name, description }, subCommands })

/** The option that says which tenant a command is about. */
export const TENANT = { type: 'string', required: true, description: 'Slug of the tenant' } as const

/** The context of the platform in a tenant. Throws NotFound. */
export async function tenantCtx(tenant: string): Promise<Ctx> {
  if (!(await findTenant(tenant))) throw new NotFound('tenant')
  return platformCtx(tenant)
}

/** Asks a person at a terminal to type `word`; scripts have decided already. */
export async function confirmDeletion(warning: string, word: string): Promise<void> {
  if (!process.stdin.isTTY) return
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${warning} to go on: `)
  terminal.close()
  if (answer.trim() !== word) throw new AppError('BAD_USER_INPUT', 400, 'Nothing was deleted.')
}

/** Rows as aligned columns. */
export function toTable(rows: string[][]): string {
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

/** Words of an option that takes several, separated by commas or spaces. */
export const wordsOf = (option: string | undefined): string[] | undefined =>
  option === undefined ? undefined : option.split(/[\s,]+/).filter((word) => word !== '')
