import type { Place } from '../core/network/ip-location.ts'
import type { Words } from './translations.ts'

/** The name of a city in a language, or in a variant of it: "pt" is served by "pt-BR". English names the others. */
function selectCityName(names: Place['cityNames'], language: string): string | undefined {
  const variant = Object.keys(names).find((tag) => tag.startsWith(`${language}-`))
  return names[language] ?? (variant && names[variant]) ?? names.en
}

/** "Zurich, Switzerland" in the language of the reader, or what is known of it; null when nothing is. */
export function describePlace(place: Place | null, { language, text }: Words): string | null {
  if (!place) return null
  const { cityNames, countryCode } = place
  const city = selectCityName(cityNames, language)
  const country = countryCode && new Intl.DisplayNames([language], { type: 'region' }).of(countryCode)
  return (city && country ? text('place.inCountry', { city, country }) : (city ?? country)) || null
}
