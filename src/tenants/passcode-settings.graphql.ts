import { LIMIT_SETTING_NAMES, type LimitSetting } from '../core/limit-settings.ts'
import { CHANNELS, type Channel } from '../core/sign-in-methods.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import type { toSettings } from './settings.ts'

type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>
type SettingFields = PothosSchemaTypes.ObjectFieldBuilder<GraphQLTypes, ReturnType<typeof toSettings>>

const DESCRIPTIONS = {
  passcodeChannels: findDescription('Tenant', 'passcodeChannels'),
  phoneCountry: findDescription('Tenant', 'phoneCountry'),
  smsCountries: findDescription('Tenant', 'smsCountries'),
}

const CHANNEL_DESCRIPTIONS: Record<Channel, string> = {
  email: 'An e-mail.',
  sms: 'A text message. Only in a deployment that sends text messages.',
}

const PasscodeChannelEnum = builder.enumType('PasscodeChannel', {
  description: 'How a message with a code is sent.',
  values: Object.fromEntries(
    CHANNELS.map((name) => [name.toUpperCase(), { value: name, description: CHANNEL_DESCRIPTIONS[name] }]),
  ) as Record<Uppercase<Channel>, { value: Channel; description: string }>,
})

const mapLimits = <Field>(toField: (name: LimitSetting) => Field) =>
  Object.fromEntries(LIMIT_SETTING_NAMES.map((name) => [name, toField(name)])) as Record<LimitSetting, Field>

/** The settings of codes, as fields of TenantSettings. */
export const buildPasscodeSettingFields = (t: SettingFields) => ({
  passcodeChannels: t.field({
    type: [PasscodeChannelEnum],
    description: DESCRIPTIONS.passcodeChannels,
    resolve: ({ passcodeChannels }) => passcodeChannels as Channel[],
  }),
  ...mapLimits((name) => t.exposeInt(name, { description: findDescription('Tenant', name) })),
  smsCountries: t.exposeStringList('smsCountries', { description: DESCRIPTIONS.smsCountries }),
  phoneCountry: t.exposeString('phoneCountry', { nullable: true, description: DESCRIPTIONS.phoneCountry }),
})

/** The same, as fields of inputs. */
export const buildPasscodeSettingInputs = (t: InputFields) => ({
  passcodeChannels: t.field({ type: [PasscodeChannelEnum], description: DESCRIPTIONS.passcodeChannels }),
  ...mapLimits((name) => t.int({ description: findDescription('Tenant', name) })),
  smsCountries: t.stringList({ description: DESCRIPTIONS.smsCountries }),
  phoneCountry: t.string({ description: DESCRIPTIONS.phoneCountry }),
})
