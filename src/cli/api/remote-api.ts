import { decodeJwt } from 'jose'
import { errorMessage } from '../../core/error-message.ts'
import { AppError, type ErrorCode, type FieldIssue, InvalidInput } from '../../core/errors.ts'
import { type Body, type Call, getRoute, type PublicApi } from './public-api.ts'

const TIMEOUT_MS = 30_000
const NEXT_PAGE = /<([^>]*)>; rel="next"/

const reject = (field: string, description: string) =>
  new InvalidInput([{ field, description }], 'The command is not valid.')

/** The origin of an address without a path. Throws InvalidInput; a token is sent over http to this machine only. */
function readOrigin(url: string): string {
  if (!URL.canParse(url)) throw reject('--url', 'must be a URL such as https://id.example.com')
  const { protocol, hostname, origin, pathname } = new URL(url)
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal))
    throw reject('--url', 'must start with https://, except on this machine')
  if (pathname !== '/') throw reject('--url', 'must have no path: --tenant names the tenant')
  return origin
}

function toError(status: number, body: Body): AppError {
  const {
    code = 'INTERNAL_SERVER_ERROR',
    message = `The server answered with ${status}.`,
    fields = [],
  } = body
  return new AppError(code as ErrorCode, status, String(message), { fields: fields as FieldIssue[] })
}

/** The client of an access token (RFC 9068); undefined for an API key. */
function readClientId(token: string): string | undefined {
  try {
    return decodeJwt<{ client_id?: string }>(token).client_id
  } catch {
    return undefined
  }
}

/** Opens the operations of a tenant over HTTP, with an access token or an API key. Throws InvalidInput. */
export function openRemoteApi(tenant: string, url: string, token: string): PublicApi {
  const base = `${readOrigin(url)}/${encodeURIComponent(tenant)}/api/v1`
  const call: Call = async (operation, { params = {}, query = {}, body } = {}) => {
    const route = getRoute(operation)
    const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
    const search = new URLSearchParams(query)
    const response = await fetch(`${base}${path}${search.size > 0 ? `?${search}` : ''}`, {
      method: route.method,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      // The token must not be sent to another host.
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      const { cause = error } = error as { cause?: unknown }
      throw new AppError('UNAVAILABLE', 503, `${base} does not answer: ${errorMessage(cause)}`)
    })
    const answer = await response.json().catch(() => ({}))
    if (!response.ok) throw toError(response.status, answer as Body)
    const next = NEXT_PAGE.exec(response.headers.get('link') ?? '')?.[1]
    const after = next ? new URLSearchParams(next.slice(next.indexOf('?'))).get('after') : null
    return { body: answer as Body, after }
  }
  return { call, callerId: readClientId(token), isAtomic: false, atomically: (work) => work(call) }
}
