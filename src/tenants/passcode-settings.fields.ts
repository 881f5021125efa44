import * as z from 'zod'
import { LIMIT_SETTINGS, STANDARD_LIMITS } from '../model/limit-settings.ts'
import type { Channel } from '../model/sign-in-methods.ts'
import { defineEnum } from '../schema/enums.ts'
import { integerField, listField } from '../schema/fields.ts'
import { asFormat } from '../schema/formats.ts'
import { COUNTRIES } from '../schema/phone-numbers.ts'

export const CHANNEL = defineEnum<Channel>('PasscodeChannel', 'How a message with a code is sent.', {
  email: 'An e-mail.',
  sms: 'A text message. Only in a deployment that sends text messages.',
})

/** A country code of ISO 3166-1. The document names each, so that it accepts exactly what this does. */
export const country = asFormat(
  z.enum(COUNTRIES, 'must be a country code of ISO 3166-1, such as CH'),
  'country',
)

/** The settings of codes. */
export const passcodeSettings = {
  passcodeChannels: listField(CHANNEL.shape, {
    min: 1,
    standard: CHANNEL.values,
    example: ['email', 'sms'],
  }),
  networkCodeLimit: integerField(LIMIT_SETTINGS.networkCodeLimit, STANDARD_LIMITS.networkCodeLimit),
  networkFailureLimit: integerField(LIMIT_SETTINGS.networkFailureLimit, STANDARD_LIMITS.networkFailureLimit),
  smsDailyLimit: integerField(LIMIT_SETTINGS.smsDailyLimit, STANDARD_LIMITS.smsDailyLimit),
  smsPrefixLimit: integerField(LIMIT_SETTINGS.smsPrefixLimit, STANDARD_LIMITS.smsPrefixLimit),
  smsCountries: listField(country, { max: COUNTRIES.length, isPlain: true, example: ['CH', 'AT'] }),
}
