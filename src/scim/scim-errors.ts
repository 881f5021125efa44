import { AppError, Conflict, type ErrorCode, InvalidInput } from '../core/errors.ts'

/** The detail codes of errors (RFC 7644, section 3.12; RFC 9865, section 2.1). */
export type ScimType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'
  | 'invalidCursor'

const STATUSES: Partial<Record<ScimType, [number, ErrorCode]>> = { uniqueness: [409, 'CONFLICT'] }

/** An error that SCIM names. */
export class ScimError extends AppError {
  readonly scimType: ScimType

  constructor(scimType: ScimType, detail: string) {
    const [status, code] = STATUSES[scimType] ?? [400, 'BAD_USER_INPUT']
    super(code, status, detail)
    this.scimType = scimType
  }
}

/** The resource has another version than If-Match names (RFC 7644, section 3.14). */
export class PreconditionFailed extends AppError {
  constructor() {
    super('CONFLICT', 412, 'The resource has changed since it was read.')
  }
}

const findScimType = (error: AppError): ScimType | undefined => {
  if (error instanceof ScimError) return error.scimType
  if (error instanceof InvalidInput) return 'invalidValue'
  return error instanceof Conflict ? 'uniqueness' : undefined
}

/** The body of an error: every faulty attribute is in `detail`. */
export function toScimErrorBody(error: AppError): object {
  const issues = error.fields.map(({ field, description }) => `${field} ${description}`.trim())
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(error.status),
    scimType: findScimType(error),
    detail: issues.length > 0 ? `${issues.join('; ')}.` : error.message,
  }
}
