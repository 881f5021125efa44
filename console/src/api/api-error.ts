import { t } from '../words/words.ts'

/** A request that the server refused or did not receive. `requestId` finds it in the log of the tenant. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly requestId: string | null

  constructor(message: string, requestId: string | null = null) {
    super(message)
    this.requestId = requestId
  }
}

/** The members of an error of GraphQL that say more than its message. */
type Extensions = {
  readonly code?: string
  readonly requestId?: string
  readonly retryAfterSeconds?: number
  readonly fields?: readonly { readonly field: string; readonly description: string }[]
}

export const toApiError = ({
  message,
  extensions,
}: {
  readonly message: string
  readonly extensions?: Extensions | undefined
}): ApiError => {
  const { fields = [], retryAfterSeconds, requestId = null } = extensions ?? {}
  const described = fields.map(({ field, description }) => `${field}: ${description}.`).join(' ') || message
  return new ApiError(
    retryAfterSeconds === undefined
      ? described
      : t('{described} Try again in {retryAfterSeconds} s.', { described, retryAfterSeconds }),
    requestId,
  )
}
