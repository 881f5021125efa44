import {
  type AppError,
  Conflict,
  type ErrorCode,
  type FieldIssue,
  InvalidCredential,
  InvalidInput,
  NotFound,
  RateLimited,
  StepUpRequired,
  UserLocked,
} from '../core/errors.ts'
import { builder } from './builder.ts'

/** Codes of errors that are data. Other errors are top-level errors with `extensions.code`. */
const UserErrorCode = builder.enumType('UserErrorCode', {
  description: 'Code of an expected error; the same codes as in REST and in `extensions.code`.',
  values: {
    BAD_USER_INPUT: { description: 'Fields of the input are invalid.' },
    NOT_FOUND: { description: 'The object does not exist or is not accessible.' },
    CONFLICT: {
      description: 'A value that must be unique is taken, or the object has changed since it was read.',
    },
    INVALID_CREDENTIAL: { description: 'The code or token is wrong, used or expired.' },
    FORBIDDEN: { description: 'The sign-in is older, or weaker, than the operation permits.' },
    USER_LOCKED: { description: 'The user is locked.' },
    RATE_LIMITED: { description: 'Too many requests; try again later.' },
  },
})

const UserError = builder.interfaceRef<AppError>('UserError').implement({
  description: 'Every expected error: `... on UserError { code message }` works in every result union.',
  fields: (t) => ({
    code: t.field({
      type: UserErrorCode,
      description: 'Code of the error.',
      resolve: (error) => error.code as Exclude<ErrorCode, 'UNAUTHENTICATED'> as 'NOT_FOUND',
    }),
    message: t.exposeString('message', { description: 'Message in English.' }),
    requestId: t.string({
      description: "Id of the request in the platform's logs.",
      resolve: (_error, _args, { ctx }) => ctx.requestId,
    }),
  }),
})

const FieldError = builder.objectRef<FieldIssue>('FieldError').implement({
  description: 'An invalid field.',
  fields: (t) => ({
    field: t.exposeString('field', {
      description:
        'Path of the field with dots, relative to `input` or its `fields`: the same name as in REST.',
    }),
    description: t.exposeString('description', { description: 'What is invalid.' }),
  }),
})

builder.objectType(InvalidInput, {
  name: 'ValidationError',
  description: 'The input is invalid; `fields` has all invalid fields.',
  interfaces: [UserError],
  fields: (t) => ({ fields: t.expose('fields', { type: [FieldError], description: 'The invalid fields.' }) }),
})

builder.objectType(Conflict, {
  name: 'ConflictError',
  description: 'A value that must be unique is taken, or the object has changed since it was read.',
  interfaces: [UserError],
  fields: (t) => ({
    fields: t.expose('fields', { type: [FieldError], description: 'The fields that conflict.' }),
  }),
})

builder.objectType(NotFound, {
  name: 'NotFoundError',
  description: 'An object that the input refers to does not exist.',
  interfaces: [UserError],
})

builder.objectType(InvalidCredential, {
  name: 'AuthenticationError',
  description: 'The code or token is wrong, used or expired; the error does not say which.',
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

builder.objectType(StepUpRequired, {
  name: 'StepUpRequiredError',
  description:
    'The user has to sign in again (RFC 9470): the sign-in of the token is older than 15 minutes, or by one factor where the tenant requires two. Send the user to authorize with these parameters, and repeat the call.',
  interfaces: [UserError],
  fields: (t) => ({
    maxAgeSeconds: t.exposeInt('maxAgeSeconds', { description: 'The parameter `max_age`.' }),
    acrValues: t.exposeString('acrValues', {
      nullable: true,
      description: 'The parameter `acr_values`; null when any sign-in is enough.',
    }),
  }),
})
