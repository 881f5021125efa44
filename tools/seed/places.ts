import {
  type Faker,
  fakerAR,
  fakerCS_CZ,
  fakerDE,
  fakerDE_AT,
  fakerEL,
  fakerEN_GB,
  fakerEN_US,
  fakerES,
  fakerFI,
  fakerFR,
  fakerHE,
  fakerIT,
  fakerJA,
  fakerKO,
  fakerPL,
  fakerPT_BR,
  fakerRU,
  fakerSV,
  fakerTH,
  fakerTR,
  fakerUK,
  fakerVI,
  fakerZH_CN,
} from '@faker-js/faker'

/** A place that users come from, with the data that depends on it. */
export type Place = {
  locale: string
  zoneinfo: string
  country: string
  /** A prefix of mobile numbers, and the number of digits that follow. */
  mobile: readonly [prefix: string, digits: number]
  /** Whether the family name comes first. */
  familyFirst: boolean
  female: readonly string[]
  male: readonly string[]
  family: readonly string[]
  cities: readonly string[]
}

type Row = readonly [
  faker: Faker,
  locale: string,
  zoneinfo: string,
  country: string,
  mobile: readonly [string, number],
  familyFirst?: true,
]

const ROWS: readonly Row[] = [
  [fakerDE_AT, 'de-AT', 'Europe/Vienna', 'Austria', ['+43664', 7]],
  [fakerDE, 'de-DE', 'Europe/Berlin', 'Germany', ['+49151', 8]],
  [fakerEN_US, 'en-US', 'America/New_York', 'United States', ['+1212', 7]],
  [fakerEN_GB, 'en-GB', 'Europe/London', 'United Kingdom', ['+4477', 8]],
  [fakerFR, 'fr-FR', 'Europe/Paris', 'France', ['+336', 8]],
  [fakerES, 'es-ES', 'Europe/Madrid', 'Spain', ['+346', 8]],
  [fakerIT, 'it-IT', 'Europe/Rome', 'Italy', ['+39347', 7]],
  [fakerPL, 'pl-PL', 'Europe/Warsaw', 'Poland', ['+4850', 7]],
  [fakerCS_CZ, 'cs-CZ', 'Europe/Prague', 'Czechia', ['+42060', 7]],
  [fakerSV, 'sv-SE', 'Europe/Stockholm', 'Sweden', ['+4670', 7]],
  [fakerFI, 'fi-FI', 'Europe/Helsinki', 'Finland', ['+35840', 7]],
  [fakerTR, 'tr-TR', 'Europe/Istanbul', 'Türkiye', ['+90532', 7]],
  [fakerPT_BR, 'pt-BR', 'America/Sao_Paulo', 'Brazil', ['+55119', 8]],
  [fakerEL, 'el-GR', 'Europe/Athens', 'Greece', ['+30694', 7]],
  [fakerRU, 'ru-RU', 'Europe/Moscow', 'Russia', ['+7916', 7]],
  [fakerUK, 'uk-UA', 'Europe/Kyiv', 'Ukraine', ['+38067', 7]],
  [fakerHE, 'he-IL', 'Asia/Jerusalem', 'Israel', ['+97252', 7]],
  [fakerAR, 'ar-EG', 'Africa/Cairo', 'Egypt', ['+20100', 7]],
  [fakerTH, 'th-TH', 'Asia/Bangkok', 'Thailand', ['+6681', 7]],
  [fakerVI, 'vi-VN', 'Asia/Ho_Chi_Minh', 'Vietnam', ['+8490', 7], true],
  [fakerJA, 'ja-JP', 'Asia/Tokyo', 'Japan', ['+8190', 8], true],
  [fakerKO, 'ko-KR', 'Asia/Seoul', 'South Korea', ['+8210', 8], true],
  [fakerZH_CN, 'zh-CN', 'Asia/Shanghai', 'China', ['+86138', 8], true],
]

const NAMES = 400
const CITIES = 50

const several = (count: number, make: () => string): string[] => [
  ...new Set(Array.from({ length: count }, make)),
]

/**
 * Names and cities of each place, the same for the same seed. A call of faker for each user would take
 * minutes.
 */
export const createPlaces = (seed: number): Place[] =>
  ROWS.map(([faker, locale, zoneinfo, country, mobile, familyFirst = false]) => {
    faker.seed(seed)
    return {
      locale,
      zoneinfo,
      country,
      mobile,
      familyFirst,
      female: several(NAMES, () => faker.person.firstName('female')),
      male: several(NAMES, () => faker.person.firstName('male')),
      family: several(2 * NAMES, () => faker.person.lastName()),
      cities: several(CITIES, () => faker.location.city()),
    }
  })
