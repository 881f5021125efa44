import { asFormat } from '../schema/formats.ts'
import { text } from '../schema/input-shapes.ts'
import { memoizeText } from '../schema/memoize-text.ts'
import { createAllowedUrl } from '../schema/url-shapes.ts'

export const link = createAllowedUrl({ fragment: true })

const MONTH_AND_DAY =
  '(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)'
/** Year 0 is a leap year of the Gregorian calendar, so that 0000-02-29 is a birthday. */
const LEAP_YEAR = '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)'
/** OIDC Core, section 5.1: YYYY-MM-DD, 0000-MM-DD when the year is omitted, or YYYY. */
const BIRTHDATE_SYNTAX = new RegExp(`^(?:(?!0000$)[0-9]{4}(?:-${MONTH_AND_DAY})?|${LEAP_YEAR}-02-29)$`)

export const birthdate = asFormat(
  text(10).regex(BIRTHDATE_SYNTAX, 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'),
  'birthdate',
)

/** The name of a time zone in its canonical case, or null. An alias keeps its name. */
const canonicalizeTimeZone = memoizeText((value) => {
  // Offsets such as +01:00 are not names, although newer engines accept them.
  if (!/^[A-Za-z]/.test(value)) return null
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions()
    return timeZone.toLowerCase() === value.toLowerCase() ? timeZone : value
  } catch {
    return null // RangeError: unknown time zone
  }
})

export const zoneinfo = text(100)
  .refine(
    (value) => canonicalizeTimeZone(value) !== null,
    'must be a name of the time zone database, such as Europe/Berlin',
  )
  .transform((value) => canonicalizeTimeZone(value) ?? value)
  .meta({ format: 'time-zone' })
