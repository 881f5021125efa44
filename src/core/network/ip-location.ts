import { readFileSync } from 'node:fs'
import { type CityResponse, Reader } from 'maxmind'
import { env } from '../env.ts'
import { errorMessage } from '../error-message.ts'
import { StartError } from '../start-error.ts'

let reader: Reader<CityResponse> | undefined

/** Opens GEOIP_DB, if it is set. Throws when it is not a readable MaxMind file. Called at start. */
export function openLocations(): void {
  if (!env.geoipDb) return
  try {
    reader = new Reader<CityResponse>(readFileSync(env.geoipDb))
  } catch (error) {
    throw new StartError(`GEOIP_DB cannot be read as a MaxMind file: ${errorMessage(error)}.`, {
      cause: error,
    })
  }
}

/** The country of an IP address from GEOIP_DB, in ISO 3166-1 alpha-2; null without the file or when unknown. */
export const lookUpCountry = (ip: string | null): string | null =>
  (ip && reader?.get(ip)?.country?.iso_code) || null

/** A place: the names of its city by language tag, and its country in ISO 3166-1 alpha-2. */
export type Place = { cityNames: Readonly<Record<string, string>>; countryCode: string | null }

/** The place of an IP address from GEOIP_DB; null without the file or when unknown. */
export function lookUpPlace(ip: string | null): Place | null {
  const found = ip ? reader?.get(ip) : null
  if (!found?.city && !found?.country) return null
  return { cityNames: { ...found.city?.names }, countryCode: found.country?.iso_code ?? null }
}

/**
 * "City, Country" of an IP address from GEOIP_DB (a MaxMind city or country file); null without the file or
 * when unknown.
 */
export function lookUpLocation(ip: string | null): string | null {
  const place = ip ? reader?.get(ip) : null
  return [place?.city?.names?.en, place?.country?.names?.en].filter(Boolean).join(', ') || null
}
