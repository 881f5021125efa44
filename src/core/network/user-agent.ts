/** For browsers without client hints: names in the User-Agent, most specific first. */
const BROWSERS: [brand: string, pattern: RegExp][] = [
  ['Microsoft Edge', /Edg(?:A|iOS)?\/([\d.]+)/],
  ['Opera', /OPR\/([\d.]+)/],
  ['Samsung Internet', /SamsungBrowser\/([\d.]+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/([\d.]+)/],
  ['Chrome', /(?:Chrome|CriOS)\/([\d.]+)/],
  ['Safari', /Version\/([\d.]+).* Safari\//],
]
const PLATFORMS: [platform: string, pattern: RegExp][] = [
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['Windows', /Windows NT/],
  ['macOS', /Mac OS X/],
  ['Chrome OS', /CrOS/],
  ['Linux', /Linux/],
]

/** What a User-Agent says, null where unknown. Names come from the lists above, never from the header. */
export type ParsedUserAgent = {
  uaBrand: string | null
  uaVersion: string | null
  platform: string | null
  mobile: boolean | null
}

/** Reads the browser and the platform from a User-Agent. */
export function parseUserAgent(userAgent: string): ParsedUserAgent {
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))
  return {
    uaBrand: browser?.[0] ?? null,
    uaVersion: browser?.[1].exec(userAgent)?.[1] ?? null,
    platform: PLATFORMS.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? null,
    mobile: userAgent ? /Mobi/.test(userAgent) : null,
  }
}
