/** The path segment of a sign-in: the handle, and the client of a page that has expired or is opened elsewhere. */
const SEGMENT = /^([A-Za-z0-9_-]{43})(?:-(client_[0-9a-z]{26}))?$/

/** The path of the first page of a sign-in. */
export function buildSignInPath(tenant: string, handle: string, clientId: string): string {
  const named = `${handle}-${clientId}`
  return `/${tenant}/signin/${SEGMENT.test(named) ? named : handle}`
}

/** The handle in a path segment, and the client that it names. */
export function readSignInSegment(segment: string): { handle: string; clientId: string | null } {
  const [, handle = '', clientId = null] = SEGMENT.exec(segment) ?? []
  return { handle, clientId }
}
