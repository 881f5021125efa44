import * as z from 'zod'
import { defineEnum } from '../schema/enums.ts'
import { requiredText } from '../schema/input-shapes.ts'
import { asId, clientIdShape, createIdShape, instantShape } from '../schema/response-shapes.ts'
import { roleNames } from '../schema/token-name.ts'
import { USER_FILTER } from '../users/list/user-filter.fields.ts'

/** Users that a call may name. */
export const MAX_NAMED_USERS = 1000
/** Users of a job, so that its rows stay few. */
export const MAX_USERS = 100_000

const USER_ACTIONS = {
  lock: 'Locks the users, as lockUser does.',
  unlock: 'Unlocks the users, as unlockUser does.',
  'end-sessions': 'Ends all sessions of the users. Requires scope sessions:write.',
  'set-roles': 'Gives the users exactly the roles.',
  'add-roles': 'Gives the users the roles besides those that they have.',
  'remove-roles': 'Takes the roles from the users.',
  delete: 'Deletes the users permanently.',
} as const

const ACTION = defineEnum('BulkUserAction', 'A change of many users.', USER_ACTIONS)
const JOB_ACTION = defineEnum('BulkJobAction', 'The change that a bulk job makes.', {
  ...USER_ACTIONS,
  'revoke-client-access': 'Ends the sessions and revokes the grants of a client.',
})
export type BulkJobAction = (typeof JOB_ACTION.values)[number]

const STATUS = defineEnum('BulkJobStatus', 'The status of a bulk job.', {
  selecting: 'The users of the filter are being listed; none has been changed.',
  running: 'The users are being changed.',
  completed: 'Every user was changed, or is among the failures.',
  canceled: 'It was canceled. Users that were changed by then stay so.',
  stopped: 'The caller may not do this any more, or the users could not be listed; `problem` says why.',
})

/** The actions that take roles. */
export const takesRoles = (action: BulkJobAction): boolean => action.endsWith('-roles')

const isGiven = (value: unknown): boolean => value !== undefined && value !== null

/** Input of bulkUpdateUsers. */
export const BulkUserUpdate = z
  .strictObject(
    {
      action: ACTION.shape.meta({ description: 'The change.', example: 'lock' }),
      userIds: z
        .array(asId(requiredText(100)), 'must be a list of ids')
        .min(1, 'must name a user')
        .max(MAX_NAMED_USERS, `must name at most ${MAX_NAMED_USERS} users`)
        .nullish()
        .meta({
          description: `Ids of the users, at most ${MAX_NAMED_USERS}. Either userIds or filter is required.`,
          example: ['user_01k7r3m8wxe4gbr5v2c9t6hznq'],
        }),
      filter: USER_FILTER.shape
        .meta({ typeName: 'UserFilter' })
        .nullish()
        .meta({
          description: `All users that match, as in the list of users; at most ${MAX_USERS}. An empty filter is all users.`,
          example: undefined,
        }),
      roles: roleNames.nullish().meta({
        description: 'The roles of set-roles, add-roles and remove-roles.',
        example: undefined,
      }),
    },
    'must be an object',
  )
  .superRefine(({ action, userIds, filter, roles }, context) => {
    if (isGiven(userIds) === isGiven(filter))
      context.addIssue({ code: 'custom', path: ['userIds'], message: 'is required, or filter, and not both' })
    const isSet = action === 'set-roles' ? isGiven(roles) : (roles?.length ?? 0) > 0
    if (takesRoles(action) !== isSet)
      context.addIssue({
        code: 'custom',
        path: ['roles'],
        message: takesRoles(action) ? 'is required for this action' : 'is not for this action',
      })
  })
  .meta({
    id: 'BulkUserUpdate',
    description: 'A change of many users.',
    example: { action: 'lock', userIds: ['user_01k7r3m8wxe4gbr5v2c9t6hznq'] },
  })

const count = z.int().min(0)

/** A job in REST responses. */
export const BulkJobShape = z
  .object({
    id: createIdShape('bulkjob').meta({ description: 'Id of the job.' }),
    action: JOB_ACTION.shape.meta({ description: 'The change.', example: 'lock' }),
    roles: z.array(z.string()).meta({ description: 'The roles of the action.', example: [] }),
    clientId: clientIdShape
      .nullable()
      .meta({ description: 'The client whose access is revoked; null for other actions.', example: null }),
    status: STATUS.shape.meta({
      description: 'selecting, running, completed, canceled or stopped.',
      example: 'running',
    }),
    total: count.meta({
      description: 'Number of users. While they are being listed, the number that matched at the start.',
      example: 12_403,
    }),
    done: count.meta({
      description: 'Number of users that were changed, or did not differ.',
      example: 4100,
    }),
    failed: count.meta({ description: 'Number of users that could not be changed.', example: 3 }),
    problem: z
      .string()
      .nullable()
      .meta({ description: 'Why it was stopped; null otherwise.', example: null }),
    createdAt: instantShape.meta({ description: 'When it was started.' }),
    finishedAt: instantShape.nullable().meta({ description: 'When it ended; null before.', example: null }),
  })
  .meta({ id: 'BulkJob', description: 'A change of many users that is made in the background.' })

/** A user whom a job could not change. */
export const BulkFailureShape = z
  .object({
    userId: createIdShape('user').meta({ description: 'Id of the user.' }),
    code: z.string().meta({ description: 'Error code for programs.', example: 'FORBIDDEN' }),
    message: z.string().meta({
      description: 'Error message.',
      example: 'This needs scopes that the caller lacks: clients:write.',
    }),
  })
  .meta({ id: 'BulkFailure', description: 'A user whom a bulk job could not change, and why.' })
