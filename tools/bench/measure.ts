import autocannon from 'autocannon'
import type { Deployment } from './deployment.ts'

/**
 * One operation under load. `setupRequest` makes requests that differ, such as those with codes and refresh
 * tokens.
 */
export type Scenario = {
  name: string
  requests: autocannon.Request[]
  /** The number of requests, for a scenario that redeems prepared codes. */
  amount?: number
  /** Runs before each load, with its number of requests. */
  prepare?: (amount: number) => Promise<void>
  /** Concurrent connections; 10 by default. */
  connections?: number
}

/** A server under load, with the counters of its process and its database. */
export type Target = Pick<
  Deployment,
  'origin' | 'statements' | 'cpuSeconds' | 'databaseCpuSeconds' | 'walBytes'
>

export type Measurement = {
  name: string
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  cpuSecondsPer1000: number
  databaseCpuSecondsPer1000: number
  roundTrips: number
  walBytes: number
  failures: number
}

/**
 * Runs a scenario for `seconds`, or for its amount, and reads CPU, statements and WAL before and after it.
 */
export async function measure(deployment: Target, scenario: Scenario, seconds: number): Promise<Measurement> {
  await scenario.prepare?.(scenario.amount ?? 0)
  const before = {
    cpu: deployment.cpuSeconds(),
    databaseCpu: await deployment.databaseCpuSeconds(),
    statements: await deployment.statements(),
    wal: await deployment.walBytes(),
  }
  const result = await autocannon({
    url: deployment.origin,
    connections: scenario.connections ?? 10,
    requests: scenario.requests,
    ...(scenario.amount ? { amount: scenario.amount } : { duration: seconds }),
  })
  const total = result['2xx'] + result.non2xx
  return {
    name: scenario.name,
    requestsPerSecond: Math.round(total / result.duration),
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuSecondsPer1000: ((deployment.cpuSeconds() - before.cpu) / total) * 1000,
    databaseCpuSecondsPer1000:
      (((await deployment.databaseCpuSeconds()) - before.databaseCpu) / total) * 1000,
    roundTrips: ((await deployment.statements()) - before.statements) / total,
    walBytes: ((await deployment.walBytes()) - before.wal) / total,
    // A redirect is an answer: its scenario checks where it leads.
    failures: result['4xx'] + result['5xx'] + result.errors,
  }
}

const COLUMNS: [string, (row: Measurement) => string][] = [
  ['operation', (row) => row.name],
  ['req/s', (row) => String(row.requestsPerSecond)],
  ['p50 ms', (row) => row.p50Ms.toFixed(1)],
  ['p99 ms', (row) => row.p99Ms.toFixed(1)],
  ['CPU s/1000', (row) => row.cpuSecondsPer1000.toFixed(3)],
  ['round trips', (row) => row.roundTrips.toFixed(2)],
  ['WAL B', (row) => row.walBytes.toFixed(0)],
  ['failures', (row) => String(row.failures)],
]

/** The measurements as a table of text. */
export function toTable(rows: Measurement[]): string {
  const cells = [COLUMNS.map(([title]) => title), ...rows.map((row) => COLUMNS.map(([, show]) => show(row)))]
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  return cells
    .map((line) =>
      line
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .join('\n')
}
