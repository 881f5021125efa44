import { readFileSync } from 'node:fs'
import { type CityResponse, Reader } from 'maxmind'
import { env } from '../env.ts'
import { log } from '../log.ts'

let reader: Reader<CityResponse> | null | undefined

function openReader(file: string): Reader<CityResponse> | null {
  try {
    return new Reader<CityResponse>(readFileSync(file))
  } catch (error) {
    log.warn({ err: error instanceof Error ? error.message : String(error) }, 'GEOIP_DB cannot be read')
    return null // where a session was seen is a nicety: no reason to refuse anybody
  }
}

/** "City, Country" of an address out of GEOIP_DB (a MaxMind city or country file); null without one or when unknown. */
export function locationOf(ip: string | null): string | null {
  if (!ip || !env.geoipDb) return null
  if (reader === undefined) reader = openReader(env.geoipDb)
  const place = reader?.get(ip)
  return [place?.city?.names?.en, place?.country?.names?.en].filter(Boolean).join(', ') || null
}
