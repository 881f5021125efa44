import { decodeJwt } from 'jose'

/** The parameters that say where and how a response is sent. */
const TARGET_PARAMETERS = ['redirect_uri', 'response_mode', 'state']

/** The claims of a request object, unverified; none when it is encrypted or malformed. */
function decodeRequestObject(object: string): Record<string, unknown> {
  try {
    return decodeJwt(object)
  } catch {
    return {}
  }
}

/**
 * The parameters of a request, with those of its request object (OIDC Core, section 6.1) that say where and
 * how the error about the object is sent, each only where the request itself has none. A client that uses
 * request objects may send them nowhere else. The object is not verified, like the parameters of the request:
 * the target is validated afterwards in either case.
 */
export function addRequestObjectTarget(params: URLSearchParams): URLSearchParams {
  const object = params.get('request')
  if (!object) return params
  const claims = decodeRequestObject(object)
  const added = TARGET_PARAMETERS.flatMap((name) => {
    const value = claims[name]
    return typeof value === 'string' && !params.has(name) ? [[name, value]] : []
  })
  return new URLSearchParams([...params, ...added])
}
