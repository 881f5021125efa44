import type { ArgDef, CommandDef } from 'citty'
import { InvalidInput } from '../../core/errors.ts'
import { type CommandResult, confirmDeletion, formatMembers, formatTable } from '../command.ts'
import { buildSetArg } from '../set-option.ts'
import { defineApiCommand } from './api-command.ts'
import { type Body, getListMember, getRoute, listPathParams, type PublicApi } from './public-api.ts'

const FILTER_ARG = {
  filter: {
    type: 'string',
    valueHint: 'name=value&…',
    description: 'Parameters of the list as REST takes them, such as createdAt.gte=2026-01-01T00:00:00Z',
  },
  limit: { type: 'string', description: 'How many to print, 50 by default; 0 prints all' },
} as const
const YES_ARG = { type: 'boolean', description: 'Do not ask for confirmation' } as const

const DEFAULT_LIMIT = 50
const MAX_PAGE = 1000
/** The widest column of a table. */
const MAX_WIDTH = 60

/** `organizationId` is `organization-id` on the command line. */
const toKebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const toCell = (value: unknown): string => {
  const text =
    value === null || value === undefined ? '-' : typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_WIDTH ? `${text.slice(0, MAX_WIDTH - 1)}…` : text
}

/** A table of the given members of objects. */
export const formatRows = (rows: readonly Body[], columns: readonly string[]): string =>
  formatTable([
    columns.map((name) => toKebab(name).replaceAll('-', ' ').toUpperCase()),
    ...rows.map((row) => columns.map((name) => toCell(row[name]))),
  ])

/** Reads `--limit`. Throws InvalidInput. */
function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_LIMIT
  if (!/^\d{1,9}$/.test(text))
    throw new InvalidInput(
      [{ field: '--limit', description: 'must be a whole number' }],
      'The command is not valid.',
    )
  return Number(text) === 0 ? Number.POSITIVE_INFINITY : Number(text)
}

/** The first items of a list. */
export async function readItems(
  api: PublicApi,
  operation: string,
  {
    query = {},
    limit,
    ...request
  }: { params?: Record<string, string>; query?: Record<string, string>; limit?: string | undefined },
): Promise<Body[]> {
  const { name } = getListMember(getRoute(operation))
  const count = readLimit(limit)
  const items: Body[] = []
  for (let after: string | null | undefined; after !== null && items.length < count; ) {
    const pageSize = String(Math.min(MAX_PAGE, count - items.length))
    const page = await api.call(operation, {
      ...request,
      query: { ...query, pageSize, ...(after !== undefined && { after }) },
    })
    items.push(...(page.body[name] as Body[]))
    after = page.after
  }
  return items
}

export const readFilter = (text: string | undefined): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(text ?? ''))

type Declared = {
  name: string
  /** By default the summary of the operation. */
  description?: string
  /** Of a list, the members in its table. */
  columns?: readonly string[]
  /** Asks for the id to be typed, unless `--yes` is given. */
  confirms?: string
}

/** The options of an operation: an argument for each id of its path, `--set` for its body, and those of lists. */
function buildArgs(operation: string, { columns, confirms }: Declared): Record<string, ArgDef> {
  const route = getRoute(operation)
  const ids = listPathParams(route).map((name) => [
    toKebab(name),
    {
      type: 'positional',
      required: true,
      description: `${toKebab(name).replace('-id', '')}: its id`,
    } as const,
  ])
  return {
    ...Object.fromEntries(ids),
    ...(columns && route.paged && FILTER_ARG),
    ...(route.body && buildSetArg('object')),
    ...(confirms && { yes: YES_ARG }),
  }
}

/** Defines the command that executes an operation of REST: its arguments and its output follow from the route. */
export function defineOperationCommand(operation: string, declared: Declared): CommandDef {
  const route = getRoute(operation)
  const { name, columns, confirms } = declared
  return defineApiCommand({
    name,
    description: declared.description ?? route.summary.split('. ', 1)[0]?.replace(/\.$/, '') ?? '',
    args: buildArgs(operation, declared),
    run: async (api, given, members): Promise<CommandResult> => {
      const args = given as unknown as Record<string, string | boolean | undefined>
      const params: Record<string, string> = {}
      for (const param of listPathParams(route)) params[param] = String(args[toKebab(param)])
      if (columns && route.paged) {
        const query = readFilter(args.filter as string | undefined)
        const rows = await readItems(api, operation, {
          params,
          query,
          limit: args.limit as string | undefined,
        })
        return { text: formatRows(rows, columns), json: rows }
      }
      const [id = ''] = Object.values(params)
      if (confirms && !args.yes) await confirmDeletion(`${confirms} Type the id`, id)
      const { body } = await api.call(operation, { params, ...(route.body && { body: members }) })
      if (columns) {
        const [rows = []] = Object.values(body).filter(Array.isArray) as Body[][]
        return { text: formatRows(rows, columns), json: body }
      }
      return { text: 'requestId' in body ? String(body.message) : formatMembers(body), json: body }
    },
  })
}
