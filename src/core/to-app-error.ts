import { AppError, Conflict, NotFound, PayloadTooLarge, Unavailable } from './errors.ts'
import { isTransientError } from './transient-errors.ts'

/** The input field of each unique constraint. */
const FIELD_BY_CONSTRAINT: Record<string, string> = {
  User_email_key: 'email',
  User_phoneNumber_key: 'phoneNumber',
  User_externalId_key: 'externalId',
  Tenant_pkey: 'slug',
  Client_pkey: 'id',
  Credential_externalId_key: 'credential',
  IdentityProvider_pkey: 'id',
  Api_identifier_key: 'identifier',
  AppRole_name_key: 'name',
  ManagementRole_name_key: 'name',
  AppRole_organization_name_key: 'name',
  Group_name_key: 'name',
  Group_organization_name_key: 'name',
  IdpUser_user_idp_key: 'idpId',
  IdpUser_external_key: 'externalId',
  Organization_slug_key: 'slug',
  Organization_externalId_key: 'externalId',
  Membership_user_key: 'userId',
  OrganizationDomain_domain_key: 'domain',
  OrganizationDomain_proven_key: 'domain',
  ScimUser_pkey: 'userName',
  ScimUser_userName_key: 'userName',
  ScimUser_externalId_key: 'externalId',
}

type DriverCause = { constraint?: { index?: string }; originalCode?: string; kind?: string }

/** The unique constraint that `error` reports as violated, by Prisma or by pg. */
function findViolatedConstraint(error: unknown): string | undefined {
  const known = error as {
    code?: string
    constraint?: string
    meta?: { driverAdapterError?: { cause?: DriverCause } }
  }
  if (known?.code === '23505') return known.constraint
  if (known?.code === 'P2002') return known.meta?.driverAdapterError?.cause?.constraint?.index
  return undefined
}

/** The record does not exist, or a row that the new one references was deleted (Prisma and pg). */
const NOT_FOUND_CODES = new Set(['P2025', 'P2003', '23503'])
/**
 * Converts anything thrown into the error that the caller may see. An unknown error becomes a 500 without its
 * text, which the transport logs from `cause`.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const field = FIELD_BY_CONSTRAINT[findViolatedConstraint(error) ?? '']
  if (field) return new Conflict([{ field, description: 'is taken' }])
  const code = (error as { code?: unknown })?.code
  if (typeof code === 'string' && NOT_FOUND_CODES.has(code)) return new NotFound()
  if (isTransientError(error)) return new Unavailable('The service is busy; try again.', error)
  const status = (error as { status?: unknown })?.status
  // h3 throws HTTPError for requests that it rejects itself, such as a body that is not JSON.
  if (error instanceof Error && error.name === 'HTTPError' && typeof status === 'number' && status < 500)
    return status === 413
      ? new PayloadTooLarge(1_000_000)
      : new AppError('BAD_USER_INPUT', status, 'The request could not be read.', { cause: error })
  return new AppError('INTERNAL_SERVER_ERROR', 500, 'Something went wrong on our side.', { cause: error })
}

/**
 * Runs `work`, and once more when a unique value was taken in the meantime. Throws the error of `toError` when one is
 * taken again.
 */
export async function repeatOnConflict<T>(work: () => Promise<T>, toError: () => AppError): Promise<T> {
  const requireConflict = (error: unknown) => {
    if (!(toAppError(error) instanceof Conflict)) throw error
  }
  try {
    return await work()
  } catch (error) {
    requireConflict(error)
  }
  return work().catch((error) => {
    requireConflict(error)
    throw toError()
  })
}
