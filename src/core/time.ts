/** A row whose dates are RFC 3339 timestamps. */
export type WithTextDates<Row> = {
  [Name in keyof Row]: Row[Name] extends Date | null ? Exclude<Row[Name], Date> | string : Row[Name]
}

/** The instant that many seconds after `time`. */
export const addSeconds = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1000)

/** A date as tokens contain it: whole seconds since 1970 (NumericDate; RFC 7519, section 2). */
export const toEpochSeconds = (date: Date): number => Math.floor(date.getTime() / 1000)
