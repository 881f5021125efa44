import { expect } from 'vitest'
import { awaitDeliveries } from '../../src/delivery/background.ts'

/**
 * The z value of the Mann-Whitney U test: above 0 when values of `one` tend to be larger. Ties get their mean
 * rank.
 */
export function computeMannWhitneyZ(one: readonly number[], other: readonly number[]): number {
  const all = [
    ...one.map((value) => ({ value, isOne: true })),
    ...other.map((value) => ({ value, isOne: false })),
  ]
  all.sort((a, b) => a.value - b.value)
  let rankSum = 0
  for (let start = 0; start < all.length; ) {
    let end = start
    while (end < all.length && all[end]?.value === all[start]?.value) end++
    const meanRank = (start + 1 + end) / 2
    for (let i = start; i < end; i++) if (all[i]?.isOne) rankSum += meanRank
    start = end
  }
  const [n, m] = [one.length, other.length]
  const u = rankSum - (n * (n + 1)) / 2
  return (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}

/** Whether an operation is about something that exists. */
export type Side = 'known' | 'unknown'
/** Prepares one sample, and returns the request that is timed. */
export type Operation = (
  side: Side,
  sample: number,
) => Promise<() => Promise<Response>> | (() => Promise<Response>)

const SAMPLES = Number(process.env.TIMING_SAMPLES ?? 2000)
/** Not timed: caches are filled and connections opened. */
const WARM_UP = 20
/** Both sides alike exceed it once in 16,000 runs. */
const MAX_Z = 4
/** Messages are sent one after another; more of them would make all requests slow. */
const ROUNDS_BETWEEN_DELIVERIES = 10

/** `samples` of each side, in random order. */
function shuffleSides(samples: number): Side[] {
  const sides = Array.from({ length: 2 * samples }, (_, i): Side => (i % 2 === 0 ? 'known' : 'unknown'))
  for (let i = sides.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[sides[i], sides[j]] = [sides[j] as Side, sides[i] as Side]
  }
  return sides
}

/**
 * Compares the times of both sides (Mann-Whitney). Each round runs every operation, with a side that does not
 * depend on the round before or on the other operations, so that messages that are still being sent and the load of
 * the machine concern both sides alike.
 */
export async function compareSides(operations: Record<string, Operation>): Promise<void> {
  const entries = Object.entries(operations).map(([name, operation]) => ({
    name,
    operation,
    sides: [...shuffleSides(WARM_UP), ...shuffleSides(SAMPLES)],
    times: { known: [] as number[], unknown: [] as number[] },
    statuses: { known: new Set<number>(), unknown: new Set<number>() },
  }))
  for (let round = 0; round < 2 * (WARM_UP + SAMPLES); round++) {
    for (const { operation, sides, times, statuses } of entries) {
      const side = sides[round] as Side
      const send = await operation(side, round)
      const start = performance.now()
      const response = await send()
      await response.arrayBuffer()
      if (round >= 2 * WARM_UP) times[side].push(performance.now() - start)
      statuses[side].add(response.status)
    }
    if (round % ROUNDS_BETWEEN_DELIVERIES === 0) await awaitDeliveries()
  }
  const results = entries.map(({ name, times, statuses }) => ({
    name,
    z: computeMannWhitneyZ(times.known, times.unknown),
    statuses: [[...statuses.known], [...statuses.unknown]],
    medians: [times.known, times.unknown].map((all) =>
      all.toSorted((a, b) => a - b)[SAMPLES >> 1]?.toFixed(2),
    ),
  }))
  process.stdout.write(
    `${results.map(({ name, z, medians }) => `${name}: z = ${z.toFixed(2)}, medians ${medians.join(' and ')} ms`).join('\n')}\n`,
  )
  for (const { name, statuses } of results) {
    expect(statuses[0], name).toHaveLength(1)
    expect(statuses[0], name).toEqual(statuses[1])
  }
  expect(results.filter(({ z }) => Math.abs(z) >= MAX_Z).map(({ name }) => name)).toEqual([])
}

let networks = 0
/** Each request comes from another network, so that no limit answers it. */
export function nextIp(): string {
  networks++
  return `2a00:${(networks >> 12).toString(16)}:${(networks & 0xfff).toString(16)}::1`
}
