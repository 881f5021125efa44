import * as z from 'zod'
import type { FieldIssue } from '../core/errors.ts'
import { SESSION_SECONDS, STAY_SIGNED_IN_MODES, type StaySignedInMode } from '../core/session-settings.ts'
import { integer, oneOf, switchedOn } from '../schema/input-shapes.ts'

const { min, max, idle, lifetime } = SESSION_SECONDS

const createSeconds = (standard: number) =>
  integer(min, max)
    .nullable()
    .transform((seconds) => seconds ?? standard)
    .optional()

/** A person waits a quarter of a year at most. */
const MAX_DELETION_DAYS = 90

/** Settings of the sessions of browsers, and of accounts. Never unset: null is the default. */
export const sessionSettings = {
  staySignedIn: oneOf(STAY_SIGNED_IN_MODES)
    .nullable()
    .transform((mode): StaySignedInMode => mode ?? 'always')
    .optional(),
  sessionIdleSeconds: createSeconds(idle),
  sessionLifetimeSeconds: createSeconds(lifetime),
  newDeviceNotice: switchedOn,
  accountDeletionDays: integer(0, MAX_DELETION_DAYS)
    .nullable()
    .transform((days) => days ?? 0)
    .optional(),
}

/** As REST returns them. */
export const sessionSettingShapes = {
  staySignedIn: z.enum(STAY_SIGNED_IN_MODES),
  sessionIdleSeconds: z.int(),
  sessionLifetimeSeconds: z.int(),
  newDeviceNotice: z.boolean(),
  accountDeletionDays: z.int(),
}

/** Examples of the same settings, for openapi.json. */
export const sessionSamples = {
  staySignedIn: 'ask',
  sessionIdleSeconds: 3600,
  sessionLifetimeSeconds: 604_800,
  newDeviceNotice: false,
  accountDeletionDays: 14,
}

/** Issues of lifetimes that do not fit together; those that are not given are the defaults. */
export const findSessionIssues = ({
  sessionIdleSeconds = idle,
  sessionLifetimeSeconds = lifetime,
}: {
  sessionIdleSeconds?: number
  sessionLifetimeSeconds?: number
}): FieldIssue[] =>
  sessionIdleSeconds > sessionLifetimeSeconds
    ? [{ field: 'sessionIdleSeconds', description: 'must not be longer than sessionLifetimeSeconds' }]
    : []
