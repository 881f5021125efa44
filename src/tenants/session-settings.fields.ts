import type { FieldIssue } from '../core/errors.ts'
import { SESSION_SECONDS, type StaySignedInMode } from '../model/session-settings.ts'
import { defineEnum } from '../schema/enums.ts'
import { enumField, flagField, integerField } from '../schema/fields.ts'

const { min, max, idle, lifetime } = SESSION_SECONDS

const STAY_SIGNED_IN = defineEnum<StaySignedInMode>(
  'StaySignedIn',
  'Whether a browser keeps the sign-in when it is closed.',
  { off: 'Never.', ask: 'If the user says so on the sign-in page.', always: 'Always.' },
)

/** The settings of the sessions of browsers, and of accounts. A person waits a quarter of a year at most. */
export const sessionSettings = {
  staySignedIn: enumField(STAY_SIGNED_IN, 'always', 'ask'),
  sessionIdleSeconds: integerField({ min, max, standard: idle }, 3600),
  sessionLifetimeSeconds: integerField({ min, max, standard: lifetime }, 604_800),
  newDeviceNotice: flagField(true, false),
  accountDeletionDays: integerField({ min: 0, max: 90, standard: 0 }, 14),
}

/** Issues of lifetimes that do not fit together; those that are not given are the defaults. */
export const findSessionIssues = ({
  sessionIdleSeconds = idle,
  sessionLifetimeSeconds = lifetime,
}: {
  sessionIdleSeconds?: number | undefined
  sessionLifetimeSeconds?: number | undefined
}): FieldIssue[] =>
  sessionIdleSeconds > sessionLifetimeSeconds
    ? [{ field: 'sessionIdleSeconds', description: 'must not be longer than sessionLifetimeSeconds' }]
    : []
