import { sha256Base64url } from '../crypto.ts'
import { DEVICE_FIELDS, type Device, type DeviceRow, deviceColumn } from './credentials.fields.ts'

/** Headers to be read. */
type HeaderReader = { get(name: string): string | null }

/** What browsers tell only a site that asks for it (User-Agent Client Hints, Accept-CH). */
export const ACCEPT_CH = [
  'Sec-CH-UA-Full-Version-List',
  'Sec-CH-UA-Platform-Version',
  'Sec-CH-UA-Arch',
  'Sec-CH-UA-Bitness',
  'Sec-CH-UA-Model',
].join(', ')

/** A hint is for people to read: no longer than this, and without what is not printed. */
const MAX_LENGTH = 100
const tidy = (value: string | undefined): string | null =>
  value
    ?.replace(/\p{C}+/gu, '')
    .trim()
    .slice(0, MAX_LENGTH) || null

/** A string of a structured header (RFC 9651, section 3.3.3), or null. */
const hint = (headers: HeaderReader, name: string): string | null =>
  tidy(/^"((?:[^"\\]|\\["\\])*)"$/.exec(headers.get(`sec-ch-ua-${name}`) ?? '')?.[1])

/** Brands of a list such as `"Chromium";v="142", "Not_A Brand";v="99"`, without those that are made up on purpose. */
const brandsOf = (list: string | null): { brand: string; version: string }[] =>
  [...(list ?? '').slice(0, 1000).matchAll(/"([^"\\]*)";\s*v="([^"\\]*)"/g)]
    .map(([, brand = '', version = '']) => ({ brand, version }))
    .filter(({ brand }) => !/not.*brand/i.test(brand))

function browserOf(headers: HeaderReader): Pick<Device, 'uaBrand' | 'uaVersion'> {
  const full = brandsOf(headers.get('sec-ch-ua-full-version-list'))
  const brands = full.length > 0 ? full : brandsOf(headers.get('sec-ch-ua'))
  // A browser names what it is made of, too.
  const own = brands.find(({ brand }) => brand !== 'Chromium') ?? brands[0]
  return { uaBrand: tidy(own?.brand), uaVersion: tidy(own?.version) }
}

/** For browsers without client hints: names in their User-Agent, the more particular first. */
const BROWSERS: [brand: string, pattern: RegExp][] = [
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

function guessFrom(userAgent: string): Pick<Device, 'uaBrand' | 'uaVersion' | 'platform' | 'mobile'> {
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))
  return {
    uaBrand: browser?.[0] ?? null,
    uaVersion: tidy(browser?.[1].exec(userAgent)?.[1]),
    platform: PLATFORMS.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? null,
    mobile: userAgent ? /Mobi/.test(userAgent) : null,
  }
}

/**
 * The device that a request comes from, as its browser describes itself (client hints, else the User-Agent); anybody can
 * claim to be any device. Pure.
 */
export function describeDevice(
  tenant: string,
  headers: HeaderReader,
  seen: { ip: string | null; now: Date },
): Device {
  const guess = guessFrom((headers.get('user-agent') ?? '').slice(0, 500))
  const browser = browserOf(headers)
  const mobile = { '?1': true, '?0': false }[headers.get('sec-ch-ua-mobile') ?? '']
  const looks = {
    mobile: mobile ?? guess.mobile,
    platform: hint(headers, 'platform') ?? guess.platform,
    architecture: hint(headers, 'arch'),
    bitness: hint(headers, 'bitness'),
    model: hint(headers, 'model'),
    uaBrand: browser.uaBrand ?? guess.uaBrand,
  }
  return {
    // Versions change with every update of the same device.
    hash: sha256Base64url(JSON.stringify([tenant, ...Object.values(looks)])),
    swVersion: null,
    ...looks,
    platformVersion: hint(headers, 'platform-version'),
    uaVersion: browser.uaBrand ? browser.uaVersion : guess.uaVersion,
    lastSeenIp: seen.ip,
    lastSeenAt: seen.now,
  }
}

/** The columns of a credential that a device is stored in. */
export const toDeviceRow = (device: Device): DeviceRow =>
  Object.fromEntries(
    DEVICE_FIELDS.map((field) => [deviceColumn(field), device[field]]),
  ) as unknown as DeviceRow
