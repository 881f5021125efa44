import { lookUpCountry } from '../../../core/ip-location.ts'
import { type Country, isCountry } from '../../../schema/phone-numbers.ts'
import type { SignInStep } from '../step/sign-in-step.ts'

/** The longest Accept-Language of which the regions are read. */
const MAX_CHARACTERS = 1000

/** The region of a language tag (RFC 5646, section 2.2.4): CH of de-Latn-CH or de_CH. */
const REGION = /^[A-Za-z]{2,8}(?:[-_][A-Za-z]{3}){0,3}(?:[-_][A-Za-z]{4})?[-_]([A-Za-z]{2})(?:[-_]|$)/

/** The regions of language tags, such as those of Accept-Language with their weights, in their order. */
export const listRegions = (languages: string): string[] =>
  languages
    .slice(0, MAX_CHARACTERS)
    .split(/[\s,]+/)
    .flatMap((tag) => REGION.exec(tag.split(';')[0] ?? '')?.[1]?.toUpperCase() ?? [])

/**
 * The countries in which a phone number without country code may be, the likeliest first: that of the network
 * (GEOIP_DB), those of `ui_locales` and Accept-Language, that of the tenant.
 */
export function listNumberCountries({ call, interaction }: SignInStep): Country[] {
  const { ctx, event, tenant } = call
  const countries = [
    lookUpCountry(ctx.ip),
    ...listRegions(interaction.request.uiLocales.join(' ')),
    ...listRegions(event.req.headers.get('accept-language') ?? ''),
    tenant.phoneCountry,
  ]
  return [...new Set(countries)].filter((country) => country !== null).filter(isCountry)
}
