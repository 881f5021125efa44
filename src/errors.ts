/** One faulty input field and what is wrong with it. */
export type FieldFault = { field: string; description: string }

/** The codes that callers may rely on; each class below carries one with its HTTP status. */
export const ERROR_CODES = [
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'INVALID_CREDENTIAL',
  'FORBIDDEN',
  'USER_LOCKED',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'INTERNAL_SERVER_ERROR',
  'UNAVAILABLE',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

type Details = { fields?: FieldFault[]; headers?: Record<string, string>; cause?: unknown }

/** Every expected failure. `message` is for the caller; `cause` is for the log only. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly fields: FieldFault[]
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, status: number, message: string, details: Details = {}) {
    super(message, { cause: details.cause })
    this.name = new.target.name
    this.code = code
    this.status = status
    this.fields = details.fields ?? []
    this.headers = details.headers ?? {}
  }
}

export class InvalidInput extends AppError {
  constructor(fields: FieldFault[], message = 'The request has invalid fields.') {
    super('BAD_USER_INPUT', 400, message, { fields })
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

/** A wrong passcode or session token. The same answer whatever was wrong with it. */
export class InvalidCredential extends AppError {
  constructor(message: string) {
    // A 401 has a challenge (RFC 9110, section 15.5.2); this one is not for the access token, which is good.
    super('INVALID_CREDENTIAL', 401, message, { headers: { 'www-authenticate': 'Credential' } })
  }
}

export class Forbidden extends AppError {
  /** `missingScope` goes into WWW-Authenticate, from which clients learn what to ask for (RFC 6750, section 3.1). */
  constructor(message: string, missingScope?: string) {
    super('FORBIDDEN', 403, message, {
      headers: missingScope
        ? { 'www-authenticate': `Bearer error="insufficient_scope", scope="${missingScope}"` }
        : {},
    })
  }
}

/** The sign-in is too long ago for what was asked: sign in anew with `max_age`, and come back (RFC 9470). */
export class SignInTooOld extends AppError {
  readonly maxAgeSeconds: number

  constructor(maxAgeSeconds: number) {
    const challenge = `Bearer error="insufficient_user_authentication", max_age="${maxAgeSeconds}"`
    super(
      'FORBIDDEN',
      403,
      `This needs a sign-in of the last ${maxAgeSeconds / 60} minutes: sign in again with max_age=${maxAgeSeconds}.`,
      { headers: { 'www-authenticate': challenge } },
    )
    this.maxAgeSeconds = maxAgeSeconds
  }
}

export class UserLocked extends AppError {
  constructor(message = 'The user is locked.') {
    super('USER_LOCKED', 403, message)
  }
}

/** Not there, or not yours: callers cannot tell. */
export class NotFound extends AppError {
  constructor(what = 'resource') {
    super('NOT_FOUND', 404, `No such ${what}.`)
  }
}

export class MethodNotAllowed extends AppError {
  constructor(allowed: string[]) {
    super('METHOD_NOT_ALLOWED', 405, `Allowed here: ${allowed.join(', ')}.`, {
      headers: { allow: allowed.join(', ') },
    })
  }
}

export class Conflict extends AppError {
  constructor(fields: FieldFault[], message = 'The value is taken.') {
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

/** Error codes of OAuth and OIDC, by the document that registers them. */
export type OAuthErrorCode =
  // RFC 6749, sections 4.1.2.1 and 5.2
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'server_error'
  | 'temporarily_unavailable'
  // OIDC Core, section 3.1.2.6
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'
  | 'account_selection_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'invalid_request_uri'
  | 'registration_not_supported'
  // RFC 6750, section 3.1
  | 'invalid_token'
  | 'insufficient_scope'
  // RFC 7009, section 2.2.1
  | 'unsupported_token_type'
  // RFC 8707, section 2
  | 'invalid_target'
  // OpenID Connect Core Error Code unmet_authentication_requirements 1.0
  | 'unmet_authentication_requirements'
  // RFC 8628, section 3.5
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  // RFC 9449, sections 5 and 8
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  // RFC 7591, section 3.2.2
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'

/** What exactly was wrong with a refused request: facts for the tenant's log, such as what was expected. Never a secret. */
export type Why = Record<string, string | number | boolean | null>

/**
 * A failure that an OAuth client reads. `redirect: false` keeps it on our own page (bad client or redirect_uri). The client
 * learns what the RFC wants it to; `why` is for the people who run it, in the event log.
 */
export class OAuthError extends Error {
  readonly error: OAuthErrorCode
  readonly status: number
  readonly redirect: boolean
  readonly headers: Record<string, string>
  readonly why: Why

  constructor(
    error: OAuthErrorCode,
    description: string,
    options: {
      status?: number
      redirect?: boolean
      headers?: Record<string, string>
      why?: Why
      cause?: unknown
    } = {},
  ) {
    super(description, { cause: options.cause })
    this.name = 'OAuthError'
    this.why = options.why ?? {}
    this.error = error
    this.status = options.status ?? 400
    this.redirect = options.redirect ?? true
    this.headers = options.headers ?? {}
  }
}

/** Which input field each unique constraint is about. */
const FIELD_OF_CONSTRAINT: Record<string, string> = {
  User_email_key: 'email',
  User_phoneNumber_key: 'phoneNumber',
  User_externalId_key: 'externalId',
  Tenant_pkey: 'slug',
  Client_pkey: 'id',
  Credential_externalId_key: 'credential',
  IdentityProvider_pkey: 'id',
  IdpUser_user_idp_key: 'idpId',
  IdpUser_external_key: 'externalId',
}

type DriverCause = { constraint?: { index?: string }; originalCode?: string; kind?: string }

/** The constraint, when `error` says that a unique one was violated (through Prisma or through pg). */
function violatedConstraint(error: unknown): string | undefined {
  const known = error as {
    code?: string
    constraint?: string
    meta?: { driverAdapterError?: { cause?: DriverCause } }
  }
  if (known?.code === '23505') return known.constraint
  if (known?.code === 'P2002') return known.meta?.driverAdapterError?.cause?.constraint?.index
  return undefined
}

/** No such record, or one that a new row refers to has just gone (through Prisma or through pg). */
const MISSING = new Set(['P2025', 'P2003', '23503'])
/** No connection in time, statement or lock timeout, server going away: worth another try. */
const TRANSIENT = new Set([
  'P2024',
  'P2028',
  'P2034',
  '40001',
  '40P01',
  '55P03',
  '57014',
  '57P01',
  'ECONNREFUSED',
  'ECONNRESET',
])

/** Turns whatever was thrown into what the caller may know. Anything unknown is a 500 with hidden text: log it. */
export function describeError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const field = FIELD_OF_CONSTRAINT[violatedConstraint(error) ?? '']
  if (field) return new Conflict([{ field, description: 'is taken' }])
  const code = (error as { code?: unknown })?.code
  if (typeof code === 'string' && MISSING.has(code)) return new NotFound()
  if (typeof code === 'string' && TRANSIENT.has(code))
    return new Unavailable('The service is busy; try again.', error)
  const status = (error as { status?: unknown })?.status
  // h3 throws HTTPError for what it refuses itself, such as a body that is not JSON.
  if (error instanceof Error && error.name === 'HTTPError' && typeof status === 'number' && status < 500)
    return status === 413
      ? new PayloadTooLarge(1_000_000)
      : new AppError('BAD_USER_INPUT', status, 'The request could not be read.', { cause: error })
  return new AppError('INTERNAL_SERVER_ERROR', 500, 'Something went wrong on our side.', { cause: error })
}
