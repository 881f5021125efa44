/** Whether a day exists in the Gregorian calendar, which is extended to year 0, a leap year. */
export function isRealDate(year: number, month: number, day: number): boolean {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** The numbers of a text that begins with YYYY-MM-DD. */
export const parseDate = (text: string): [year: number, month: number, day: number] => [
  Number(text.slice(0, 4)),
  Number(text.slice(5, 7)),
  Number(text.slice(8, 10)),
]
