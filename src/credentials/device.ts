import { sha256Base64url } from '../core/crypto.ts'
import { parseHeaderList, parseHeaderString } from '../core/json/structured-headers.ts'
import { parseUserAgent } from '../core/network/user-agent.ts'
import { DEVICE_FIELDS, type Device, type DeviceRow, toDeviceColumn } from './credentials.fields.ts'

/** Reads request headers. */
type HeaderSource = { get(name: string): string | null }

/** Client hints that browsers send only when requested by Accept-CH (User-Agent Client Hints). */
export const ACCEPT_CH = [
  'Sec-CH-UA-Full-Version-List',
  'Sec-CH-UA-Platform-Version',
  'Sec-CH-UA-Arch',
  'Sec-CH-UA-Bitness',
  'Sec-CH-UA-Model',
].join(', ')

/** Maximum length of a hint. Control characters are removed, because hints are displayed. */
const MAX_TEXT_LENGTH = 100
const cleanHeaderText = (value: string | null | undefined): string | null =>
  value
    ?.replace(/\p{C}+/gu, '')
    .trim()
    .slice(0, MAX_TEXT_LENGTH) || null

const readClientHint = (headers: HeaderSource, name: string): string | null =>
  cleanHeaderText(parseHeaderString(headers.get(`sec-ch-ua-${name}`) ?? ''))

/** Brands of a list such as `"Chromium";v="142", "Not_A Brand";v="99"`, without GREASE brands. */
const parseBrands = (list: string | null): { brand: string; version: string }[] =>
  parseHeaderList(list ?? '').flatMap(([brand, parameters]) => {
    const version = parameters.get('v')
    const isNamed = typeof brand === 'string' && typeof version === 'string' && !/not.*brand/i.test(brand)
    return isNamed ? [{ brand, version }] : []
  })

function detectBrowser(headers: HeaderSource): Pick<Device, 'uaBrand' | 'uaVersion'> {
  const full = parseBrands(headers.get('sec-ch-ua-full-version-list'))
  const brands = full.length > 0 ? full : parseBrands(headers.get('sec-ch-ua'))
  // The list also contains the engine, such as Chromium.
  const own = brands.find(({ brand }) => brand !== 'Chromium') ?? brands[0]
  return { uaBrand: cleanHeaderText(own?.brand), uaVersion: cleanHeaderText(own?.version) }
}

/**
 * The device of a request as its browser reports it, by client hints or the User-Agent. The report is not
 * authenticated. Pure.
 */
export function describeDevice(
  tenant: string,
  headers: HeaderSource,
  seen: { ip: string | null; now: Date },
): Device {
  const guess = parseUserAgent((headers.get('user-agent') ?? '').slice(0, 500))
  const browser = detectBrowser(headers)
  const mobile = { '?1': true, '?0': false }[headers.get('sec-ch-ua-mobile') ?? '']
  const looks = {
    mobile: mobile ?? guess.mobile,
    platform: readClientHint(headers, 'platform') ?? guess.platform,
    architecture: readClientHint(headers, 'arch'),
    bitness: readClientHint(headers, 'bitness'),
    model: readClientHint(headers, 'model'),
    uaBrand: browser.uaBrand ?? guess.uaBrand,
  }
  return {
    // Versions are left out, because they change with every update of the device.
    hash: sha256Base64url(JSON.stringify([tenant, ...Object.values(looks)])),
    swVersion: null,
    ...looks,
    platformVersion: readClientHint(headers, 'platform-version'),
    uaVersion: browser.uaBrand ? browser.uaVersion : cleanHeaderText(guess.uaVersion),
    lastSeenIp: seen.ip,
    lastSeenAt: seen.now,
  }
}

/** The columns of a credential that store its device. */
export const toDeviceRow = (device: Device): DeviceRow =>
  Object.fromEntries(
    DEVICE_FIELDS.map((field) => [toDeviceColumn(field), device[field]]),
  ) as unknown as DeviceRow
