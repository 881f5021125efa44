import {
  type AppError,
  Conflict,
  type ErrorCode,
  type FieldFault,
  InvalidCredential,
  InvalidInput,
  NotFound,
  RateLimited,
  UserLocked,
} from '../errors.ts'
import { builder } from './builder.ts'

/** Codes of the failures that are data. The others are top-level errors with `extensions.code`. */
const UserErrorCode = builder.enumType('UserErrorCode', {
  description: 'What kind of failure it was; the same codes as in REST and in `extensions.code`.',
  values: {
    BAD_USER_INPUT: { description: 'Fields of the input are invalid.' },
    NOT_FOUND: { description: 'There is no such thing, or it is not yours.' },
    CONFLICT: {
      description: 'A value that must be unique is taken, or what was to change is not as it was expected.',
    },
    INVALID_CREDENTIAL: { description: 'The code or token is wrong, used up or expired.' },
    USER_LOCKED: { description: 'The user is locked.' },
    RATE_LIMITED: { description: 'Too often; try later.' },
  },
})

const UserError = builder.interfaceRef<AppError>('UserError').implement({
  description:
    'Base of every expected failure: `... on UserError { code message }` works in every result union.',
  fields: (t) => ({
    code: t.field({
      type: UserErrorCode,
      description: 'What kind of failure it was.',
      resolve: (error) => error.code as Exclude<ErrorCode, 'UNAUTHENTICATED'> as 'NOT_FOUND',
    }),
    message: t.exposeString('message', { description: 'What was wrong, in English, for people.' }),
    requestId: t.string({
      description: "Names the request in the platform's log.",
      resolve: (_error, _args, { ctx }) => ctx.requestId,
    }),
  }),
})

const FieldError = builder.objectRef<FieldFault>('FieldError').implement({
  description: 'One faulty field.',
  fields: (t) => ({
    field: t.exposeString('field', {
      description:
        'Path of the field, with dots, below `input` and its `fields`: the name that it has in REST.',
    }),
    description: t.exposeString('description', { description: 'What is wrong with it.' }),
  }),
})

builder.objectType(InvalidInput, {
  name: 'ValidationError',
  description: 'The input is invalid; all faulty fields are named at once.',
  interfaces: [UserError],
  fields: (t) => ({ fields: t.expose('fields', { type: [FieldError], description: 'The faulty fields.' }) }),
})

builder.objectType(Conflict, {
  name: 'ConflictError',
  description: 'A value that must be unique is taken, or what was to change is not as it was expected.',
  interfaces: [UserError],
  fields: (t) => ({
    fields: t.expose('fields', { type: [FieldError], description: 'The fields that conflict.' }),
  }),
})

builder.objectType(NotFound, {
  name: 'NotFoundError',
  description: 'What the input names is not there.',
  interfaces: [UserError],
})

builder.objectType(InvalidCredential, {
  name: 'AuthenticationError',
  description: 'The code or token did not prove anything. It is never said why.',
  interfaces: [UserError],
})

builder.objectType(UserLocked, {
  name: 'UserLockedError',
  description: 'The user is locked.',
  interfaces: [UserError],
})

builder.objectType(RateLimited, {
  name: 'RateLimitedError',
  description: 'Too many attempts.',
  interfaces: [UserError],
  fields: (t) => ({
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description: 'Seconds to wait before the next attempt.',
    }),
  }),
})
