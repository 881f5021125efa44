import { styleText } from 'node:util'
import type { RequestFacts } from './facts.ts'

const getColor = (status: number): 'red' | 'yellow' | 'cyan' | 'green' =>
  status >= 500 ? 'red' : status >= 400 ? 'yellow' : status >= 300 || status < 200 ? 'cyan' : 'green'

/** One request in a line for people, with the colors of a terminal. */
export function formatForTerminal(facts: RequestFacts, now = new Date()): string {
  const { method, route, status, ms, databaseMs, statements, tenant, client, organization } = facts
  const color = (name: Parameters<typeof styleText>[0], text: string) =>
    styleText(name, text, { validateStream: false })
  return `${[
    color('dim', now.toTimeString().slice(0, 8)),
    color(getColor(status), String(status)),
    color('bold', method.padEnd(4)),
    route + (facts.operation ? ` ${facts.operation}` : ''),
    `${ms} ms`,
    statements > 0 && color('dim', `${statements} in ${databaseMs} ms`),
    facts.broken && color('red', 'broken off'),
    color('dim', [tenant, client, organization, facts.requestId].filter(Boolean).join(' ')),
  ]
    .filter(Boolean)
    .join('  ')}\n`
}
