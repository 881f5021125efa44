/** The instant that many seconds after `time`. */
export const addSeconds = (time: Date, seconds: number): Date => new Date(time.getTime() + seconds * 1000)

/** A date as tokens contain it: whole seconds since 1970 (NumericDate; RFC 7519, section 2). */
export const toEpochSeconds = (date: Date): number => Math.floor(date.getTime() / 1000)
