/** What a check found. `action` says what to do about a warning or a failure. */
export type Finding = {
  /** The part and its property, such as `database.clock`. */
  check: string
  state: 'ok' | 'warning' | 'failure'
  found: string
  action: string | null
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found, action: null })
export const warn = (check: string, found: string, action: string): Finding => ({
  check,
  state: 'warning',
  found,
  action,
})
export const fail = (check: string, found: string, action: string): Finding => ({
  check,
  state: 'failure',
  found,
  action,
})

/** The time that a check may take, in milliseconds. */
export const CHECK_LIMIT_MS = 5000
/** The time of one step, so that the check says which step took too long. */
export const STEP_LIMIT_MS = 4000

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** `2 days`, `1 hour`: the largest unit of which there are two, or one. */
export function formatAge(seconds: number): string {
  const [size, unit] = UNITS.find(([each]) => seconds >= each) ?? [1, 'second']
  const count = Math.floor(seconds / size)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** `1 message`, `2 messages`. */
export const formatCount = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? '' : 's'}`

const ROUND_TRIPS = 3

/** The time of the fastest of three round trips, in milliseconds. */
export async function measureRoundTrip(send: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let count = 0; count < ROUND_TRIPS; count++) {
    const start = performance.now()
    await send()
    times.push(performance.now() - start)
  }
  return Math.min(...times)
}
