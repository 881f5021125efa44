/** What Vestibule costs of what the floor costs, by operation. */
export type Ratios = Record<string, { server: number; database: number | null }>

/** A change of a ratio of this size is shown as worse. */
const TOLERANCE = 1.1

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const round = (value: number): number => Math.round(value * 100) / 100

/** The cost of an operation in one round: CPU seconds for 1,000 requests. */
export type Cost = { server: number; database: number }

/** Divides the costs of rounds that were measured in turns; the medians. Null where the floor costs nothing. */
export function computeRatio(rounds: readonly { ours: Cost; floor: Cost }[]): Ratios[string] {
  const divide = (part: keyof Cost) =>
    round(median(rounds.map(({ ours, floor }) => ours[part] / floor[part])))
  const database = divide('database')
  return { server: divide('server'), database: Number.isFinite(database) ? database : null }
}

/** The operations that cost more than 10 % more of the floor than in the baseline. */
export const findWorse = (ratios: Ratios, baseline: Ratios): string[] =>
  Object.entries(ratios).flatMap(([name, { server, database }]) => {
    const before = baseline[name]
    if (!before) return []
    const isDatabaseWorse =
      database !== null && before.database !== null && database > before.database * TOLERANCE
    return server > before.server * TOLERANCE || isDatabaseWorse ? [name] : []
  })

const show = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

/** The ratios with those of the baseline, as a table of text. */
export function formatRatios(ratios: Ratios, baseline: Ratios): string {
  const worse = findWorse(ratios, baseline)
  const lines = Object.entries(ratios).map(([name, { server, database }]) => [
    name,
    show(server),
    show(baseline[name]?.server ?? null),
    show(database),
    show(baseline[name]?.database ?? null),
    worse.includes(name) ? 'worse by more than 10 %' : '',
  ])
  const cells = [['÷ floor', 'server', 'baseline', 'database', 'baseline', ''], ...lines]
  const widths =
    cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? []
  return cells
    .map((line) =>
      line
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
