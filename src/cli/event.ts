import { setTimeout as sleep } from 'node:timers/promises'
import { defineApiCommand } from './api/api-command.ts'
import { formatRows, readFilter, readItems } from './api/operation-command.ts'
import type { Body, PublicApi } from './api/public-api.ts'
import { defineCommandGroup } from './command.ts'

const COLUMNS = ['occurredAt', 'type', 'subjectId', 'actorUserId', 'ip', 'id']
const EVENT_ARGS = {
  since: {
    type: 'string',
    description:
      'Only events from this instant on, such as 2026-01-31T12:00:00Z, or of the last 15m, 24h or 7d',
  },
  filter: {
    type: 'string',
    valueHint: 'name=value&…',
    description: 'Parameters of the list as REST takes them, such as types=user.locked',
  },
} as const
const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const POLL_MS = 1000

/** The instant of `--since`: as it is, or before now. */
function readSince(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count ? new Date(Date.now() - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString() : text
}

const readQuery = ({ since, filter }: { since?: string; filter?: string }): Record<string, string> => ({
  ...readFilter(filter),
  ...(since !== undefined && { 'occurredAt.gte': readSince(since) }),
})

/** Where the log ends. */
async function readEnd(api: PublicApi): Promise<string | undefined> {
  const [last] = await readItems(api, 'listEvents', { query: { direction: 'desc' }, limit: '1' })
  return last?.position as string | undefined
}

/** Prints the events after a position as they appear, each as a line, until the process ends or `count` are printed. */
async function followEvents(
  api: PublicApi,
  query: Record<string, string>,
  { after: start, count }: { after: string | undefined; count: number },
  print: (event: Body) => void,
): Promise<number> {
  let after = start
  let printed = 0
  while (printed < count) {
    const events = await readItems(api, 'listEvents', {
      query: { ...query, ...(after !== undefined && { after }) },
      limit: '1000',
    })
    for (const event of events.slice(0, count - printed)) print(event)
    printed += events.length
    after = (events.at(-1)?.position as string | undefined) ?? after
    if (events.length === 0) await sleep(POLL_MS)
  }
  return count
}

const formatEvent = (event: Body): string => COLUMNS.map((name) => String(event[name] ?? '-')).join('  ')

const listCommand = defineApiCommand({
  name: 'list',
  description: 'List events, newest first',
  args: {
    ...EVENT_ARGS,
    limit: { type: 'string', description: 'How many to print, 50 by default; 0 prints all' },
  },
  run: async (api, { limit, ...args }) => {
    const rows = await readItems(api, 'listEvents', {
      query: { direction: 'desc', ...readQuery(args) },
      limit,
    })
    return { text: formatRows(rows, COLUMNS), json: rows }
  },
})

const tailCommand = defineApiCommand({
  name: 'tail',
  description: 'Print events as they happen, each as a line, until it is interrupted; with --json, as NDJSON',
  args: { ...EVENT_ARGS, count: { type: 'string', description: 'Ends after this many events' } },
  run: async (api, { count, ...args }) => {
    const asJson = process.argv.includes('--json')
    const after = args.since === undefined ? await readEnd(api) : undefined
    const limit = count === undefined ? Number.POSITIVE_INFINITY : Number(count)
    const printed = await followEvents(api, readQuery(args), { after, count: limit }, (event) =>
      process.stdout.write(`${asJson ? JSON.stringify(event) : formatEvent(event)}\n`),
    )
    return { text: `${printed} events.`, json: { printed }, hasWrittenOutput: true }
  },
})

export const eventCommand = defineCommandGroup('event', 'The event log of a tenant', {
  list: listCommand,
  tail: tailCommand,
})
