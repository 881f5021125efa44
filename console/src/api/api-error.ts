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
type Extensions = { readonly code?: string; readonly requestId?: string; readonly retryAfterSeconds?: number }

export const toApiError = ({
  message,
  extensions,
}: {
  readonly message: string
  readonly extensions?: Extensions | undefined
}): ApiError =>
  new ApiError(
    extensions?.retryAfterSeconds === undefined
      ? message
      : `${message} Try again in ${extensions.retryAfterSeconds} s.`,
    extensions?.requestId ?? null,
  )
