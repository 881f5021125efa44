import type { Words } from './translations.ts'

const selectUnit = (
  seconds: number,
): [key: 'wait.seconds' | 'wait.minutes' | 'wait.hours', count: number] => {
  if (seconds <= 90) return ['wait.seconds', seconds]
  if (seconds <= 90 * 60) return ['wait.minutes', Math.ceil(seconds / 60)]
  return ['wait.hours', Math.ceil(seconds / 3600)]
}

/** A time to wait, as it follows "in": seconds, or minutes and hours rounded up. */
export function formatWait(seconds: number, words: Words): string {
  const [key, count] = selectUnit(seconds)
  return words.text(key, { count })
}
