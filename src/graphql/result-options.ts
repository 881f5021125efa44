import type {
  Conflict,
  InvalidCredential,
  InvalidInput,
  NotFound,
  RateLimited,
  StepUpRequired,
  UserLocked,
} from '../core/errors.ts'

/** The error classes that can be data; errors.graphql.ts declares their GraphQL types. */
type ExpectedError =
  | typeof InvalidInput
  | typeof Conflict
  | typeof NotFound
  | typeof InvalidCredential
  | typeof UserLocked
  | typeof RateLimited
  | typeof StepUpRequired

/**
 * Options of a mutation: its type becomes a nullable union of the payload and these errors, named after the
 * field (createUser → CreateUserResult). Other errors stay top-level errors. The payload must be an object
 * type.
 */
export const toResultOptions = (...types: ExpectedError[]) => ({ errors: { types }, nullable: true as const })
