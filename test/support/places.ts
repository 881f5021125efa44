import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Value = string | number | { [key: string]: Value }

/** Encodes a value of the data section (MaxMind DB file format 2.0). */
function encode(value: Value): Buffer {
  if (typeof value === 'string')
    return Buffer.concat([Buffer.from([0x40 | value.length]), Buffer.from(value)])
  if (typeof value === 'number') return Buffer.from([0xa2, value >> 8, value & 0xff])
  const members = Object.entries(value).flatMap(([key, member]) => [encode(key), encode(member)])
  return Buffer.concat([Buffer.from([0xe0 | Object.keys(value).length]), ...members])
}

/** A MaxMind file that knows one place for all IPv4 addresses: a tree of one node with both sides alike. */
function buildPlaces(city: string, country: string, countryCode: string): Buffer {
  const pointer = [0, 0, 1 + 16]
  return Buffer.concat([
    Buffer.from([...pointer, ...pointer]),
    Buffer.alloc(16),
    encode({ city: { names: { en: city } }, country: { iso_code: countryCode, names: { en: country } } }),
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    encode({
      binary_format_major_version: 2,
      binary_format_minor_version: 0,
      build_epoch: 1,
      database_type: 'City',
      ip_version: 4,
      node_count: 1,
      record_size: 24,
    }),
  ])
}

/** Sets GEOIP_DB to a file with one place: src/core/env.ts must not have been imported yet. */
export function usePlace(city: string, country: string, countryCode: string): void {
  process.env.GEOIP_DB = join(mkdtempSync(join(tmpdir(), 'vestibule-places-')), 'places.mmdb')
  writeFileSync(process.env.GEOIP_DB, buildPlaces(city, country, countryCode))
}
