/** An input field that is not valid, and why. */
export type FieldIssue = { field: string; description: string }

/** The codes that callers may rely on. Each class below carries one code and its HTTP status. */
export const ERROR_CODES = [
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'INVALID_CREDENTIAL',
  'FORBIDDEN',
  'USER_LOCKED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'INTERNAL_SERVER_ERROR',
  'UNAVAILABLE',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

type ErrorDetails = { fields?: FieldIssue[]; headers?: Record<string, string>; cause?: unknown }

/** An expected error. `message` is for the caller; `cause` is for the log only. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly fields: FieldIssue[]
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, status: number, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.name = new.target.name
    this.code = code
    this.status = status
    this.fields = details.fields ?? []
    this.headers = details.headers ?? {}
  }
}

export class InvalidInput extends AppError {
  constructor(fields: FieldIssue[], message = 'The request has invalid fields.') {
    super('BAD_USER_INPUT', 400, message, { fields })
  }
}

/** The answer, or the rows that it needs, would have too many bytes. */
export class AnswerTooLarge extends InvalidInput {
  constructor(
    message = 'The request asks for too much data at once.',
    description = 'ask for fewer rows or fields',
  ) {
    super([{ field: '', description }], message)
  }
}

export class Unauthenticated extends AppError {
  /** `challenge` is the value of WWW-Authenticate (RFC 6750, section 3); `headers` go with it. */
  constructor(
    message = 'A valid access token is required.',
    challenge = 'Bearer',
    { cause, headers }: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super('UNAUTHENTICATED', 401, message, { headers: { 'www-authenticate': challenge, ...headers }, cause })
  }
}

/** A passcode or session token that is not valid. The message does not say why. */
export class InvalidCredential extends AppError {
  constructor(message: string) {
    // A 401 carries a challenge (RFC 9110, section 15.5.2). This one is not about the access token, which is
    // valid.
    super('INVALID_CREDENTIAL', 401, message, { headers: { 'www-authenticate': 'Credential' } })
  }
}

export class Forbidden extends AppError {
  /** `missingScope` goes into WWW-Authenticate, so that the client can request it (RFC 6750, section 3.1). */
  constructor(message: string, missingScope?: string) {
    super('FORBIDDEN', 403, message, {
      headers: missingScope
        ? { 'www-authenticate': `Bearer error="insufficient_scope", scope="${missingScope}"` }
        : {},
    })
  }
}

/**
 * Step-up (RFC 9470): the sign-in is older, or weaker, than the operation permits. The client signs the user in
 * again with `max_age`, and with `acr_values` if an `acr` is given.
 */
export class StepUpRequired extends AppError {
  readonly maxAgeSeconds: number
  /** The `acr` that the sign-in must have; null for any. */
  readonly acrValues: string | null

  constructor(maxAgeSeconds: number, acrValues: string | null = null) {
    const parameters = { max_age: String(maxAgeSeconds), ...(acrValues && { acr_values: acrValues }) }
    const challenge = Object.entries(parameters).map(([name, value]) => `, ${name}="${value}"`)
    const request = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
    super(
      'FORBIDDEN',
      403,
      `Requires a sign-in within the last ${maxAgeSeconds / 60} minutes${acrValues ? ' by a stronger method' : ''}. Sign in again with ${request.join(' and ')}.`,
      {
        headers: {
          'www-authenticate': `Bearer error="insufficient_user_authentication"${challenge.join('')}`,
        },
      },
    )
    this.maxAgeSeconds = maxAgeSeconds
    this.acrValues = acrValues
  }
}

export class UserLocked extends AppError {
  constructor(message = 'The user is locked.') {
    super('USER_LOCKED', 403, message)
  }
}

/** The resource does not exist, or belongs to another tenant or user. Callers cannot distinguish the two. */
export class NotFound extends AppError {
  /** `fields` has the members of the input that name it, where several may. */
  constructor(what = 'resource', fields: FieldIssue[] = []) {
    super('NOT_FOUND', 404, `No such ${what}.`, { fields })
  }
}

export class MethodNotAllowed extends AppError {
  constructor(allowed: string[]) {
    super('METHOD_NOT_ALLOWED', 405, `Allowed methods: ${allowed.join(', ')}.`, {
      headers: { allow: allowed.join(', ') },
    })
  }
}

/** The `Accept` header excludes the media type of the answer (RFC 9110, section 15.5.7). */
export class NotAcceptable extends AppError {
  constructor(offered: string) {
    super('NOT_ACCEPTABLE', 406, `The answer is ${offered}, which the Accept header excludes.`)
  }
}

export class Conflict extends AppError {
  constructor(fields: FieldIssue[], message = 'The value is taken.') {
    super('CONFLICT', 409, message, { fields })
  }
}

export class PayloadTooLarge extends AppError {
  constructor(limitBytes: number) {
    super('PAYLOAD_TOO_LARGE', 413, `The body may have ${limitBytes} bytes at most.`)
  }
}

export class UnsupportedMediaType extends AppError {
  constructor(expected: string) {
    super('UNSUPPORTED_MEDIA_TYPE', 415, `The body must be ${expected}.`)
  }
}

export class RateLimited extends AppError {
  readonly retryAfterSeconds: number

  constructor(retryAfterSeconds: number, message = 'Too many requests.') {
    super('RATE_LIMITED', 429, message, { headers: { 'retry-after': String(retryAfterSeconds) } })
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export class Unavailable extends AppError {
  constructor(message: string, cause?: unknown) {
    super('UNAVAILABLE', 503, message, { cause, headers: { 'retry-after': '5' } })
  }
}
