import type { StaySignedInMode } from '../core/session-settings.ts'
import { builder, type GraphQLTypes } from '../graphql/builder.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import type { toSettings } from './settings.ts'

type InputFields = PothosSchemaTypes.InputFieldBuilder<GraphQLTypes, 'InputObject'>
type SettingFields = PothosSchemaTypes.ObjectFieldBuilder<GraphQLTypes, ReturnType<typeof toSettings>>

const DESCRIPTIONS = {
  staySignedIn: findDescription('Tenant', 'staySignedIn'),
  sessionIdleSeconds: findDescription('Tenant', 'sessionIdleSeconds'),
  sessionLifetimeSeconds: findDescription('Tenant', 'sessionLifetimeSeconds'),
  newDeviceNotice: findDescription('Tenant', 'newDeviceNotice'),
  accountDeletionDays: findDescription('Tenant', 'accountDeletionDays'),
}

const StaySignedInEnum = builder.enumType('StaySignedIn', {
  description: 'Whether a browser keeps the sign-in when it is closed.',
  values: {
    OFF: { value: 'off', description: 'Never.' },
    ASK: { value: 'ask', description: 'If the user says so on the sign-in page.' },
    ALWAYS: { value: 'always', description: 'Always.' },
  } satisfies Record<string, { value: StaySignedInMode; description: string }>,
})

/** The settings of sessions, as fields of TenantSettings. */
export const buildSessionSettingFields = (t: SettingFields) => ({
  staySignedIn: t.field({
    type: StaySignedInEnum,
    description: DESCRIPTIONS.staySignedIn,
    resolve: ({ staySignedIn }) => staySignedIn as StaySignedInMode,
  }),
  sessionIdleSeconds: t.exposeInt('sessionIdleSeconds', { description: DESCRIPTIONS.sessionIdleSeconds }),
  sessionLifetimeSeconds: t.exposeInt('sessionLifetimeSeconds', {
    description: DESCRIPTIONS.sessionLifetimeSeconds,
  }),
  newDeviceNotice: t.exposeBoolean('newDeviceNotice', { description: DESCRIPTIONS.newDeviceNotice }),
  accountDeletionDays: t.exposeInt('accountDeletionDays', { description: DESCRIPTIONS.accountDeletionDays }),
})

/** The same, as fields of inputs. */
export const buildSessionSettingInputs = (t: InputFields) => ({
  staySignedIn: t.field({ type: StaySignedInEnum, description: DESCRIPTIONS.staySignedIn }),
  sessionIdleSeconds: t.int({ description: DESCRIPTIONS.sessionIdleSeconds }),
  sessionLifetimeSeconds: t.int({ description: DESCRIPTIONS.sessionLifetimeSeconds }),
  newDeviceNotice: t.boolean({ description: DESCRIPTIONS.newDeviceNotice }),
  accountDeletionDays: t.int({ description: DESCRIPTIONS.accountDeletionDays }),
})
