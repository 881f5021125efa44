import { t } from '../words/words.ts'
/** The units of durations in seconds, the largest first. */
export const UNITS = { days: 86_400, hours: 3600, minutes: 60, seconds: 1 } as const
export const UNIT_NAMES: Record<Unit, string> = {
  days: t('days'),
  hours: t('hours'),
  minutes: t('minutes'),
  seconds: t('seconds'),
}
export type Unit = keyof typeof UNITS

/** The largest unit of which a number of seconds is a multiple. */
export const findUnit = (seconds: number): Unit =>
  (Object.keys(UNITS) as Unit[]).find((unit) => seconds % UNITS[unit] === 0) ?? 'seconds'
