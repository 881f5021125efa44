import type {
  Conflict,
  InvalidCredential,
  InvalidInput,
  NotFound,
  RateLimited,
  UserLocked,
} from '../errors.ts'

/** The error classes that may be data; errors.graphql.ts gives each its GraphQL type. */
type ExpectedError =
  | typeof InvalidInput
  | typeof Conflict
  | typeof NotFound
  | typeof InvalidCredential
  | typeof UserLocked
  | typeof RateLimited

/**
 * For a mutation: its result becomes the union of the payload and these errors, named after the field (createUser →
 * CreateUserResult), and nullable. Errors of other classes stay top-level errors. The payload must be an object type.
 */
export const resultOf = (...types: ExpectedError[]) => ({ errors: { types }, nullable: true as const })
