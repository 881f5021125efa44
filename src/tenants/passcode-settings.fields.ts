import * as z from 'zod'
import {
  LIMIT_SETTING_NAMES,
  LIMIT_SETTINGS,
  type LimitSetting,
  STANDARD_LIMITS,
} from '../core/limit-settings.ts'
import { CHANNELS } from '../core/sign-in-methods.ts'
import { canSendSms } from '../delivery/sms.ts'
import { integer, oneOf } from '../schema/input-shapes.ts'
import { COUNTRIES } from '../schema/phone-numbers.ts'

/** Examples of these settings, for openapi.json. */
export const PASSCODE_SETTING_SAMPLES = {
  passcodeChannels: ['email', 'sms'],
  phoneCountry: 'CH',
  ...STANDARD_LIMITS,
  smsCountries: ['CH', 'AT'],
}

/** At least one that the deployment has, so that users can sign in. Null is the default. */
const passcodeChannels = z
  .array(oneOf(CHANNELS), 'must be an array')
  .min(1, 'must not be empty')
  .max(100, 'must have at most 100 entries')
  .refine(
    (channels) => canSendSms() || channels.length === 0 || channels.includes('email'),
    'must contain email, because SMS_URL is not set',
  )
  .nullable()
  .transform((channels) => [...new Set(channels ?? CHANNELS)])
  .optional()

/** A country code of ISO 3166-1. The document names each, so that it accepts exactly what this does. */
export const country = z.enum(COUNTRIES, 'must be a country code of ISO 3166-1, such as CH')

/** Null is all countries. */
const smsCountries = z
  .array(country, 'must be an array')
  .max(COUNTRIES.length, `must have at most ${COUNTRIES.length} entries`)
  .nullable()
  .transform((countries) => [...new Set(countries ?? [])])
  .optional()

const createLimit = (name: LimitSetting) => {
  const { standard, min, max } = LIMIT_SETTINGS[name]
  return integer(min, max)
    .nullable()
    .transform((limit) => limit ?? standard)
    .optional()
}
const mapLimits = <Shape>(toShape: (name: LimitSetting) => Shape) =>
  Object.fromEntries(LIMIT_SETTING_NAMES.map((name) => [name, toShape(name)])) as Record<LimitSetting, Shape>

/** Settings of codes that are never unset: null is the default. */
export const passcodeSettings = { passcodeChannels, ...mapLimits(createLimit), smsCountries }

/** As REST returns them. */
export const passcodeSettingsShapes = {
  passcodeChannels: z.array(z.enum(CHANNELS)),
  ...mapLimits(() => z.int()),
  smsCountries: z.array(z.string()),
}
