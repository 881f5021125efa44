import { createNonce } from '../../src/access/dpop-nonces.ts'
import { test as base } from './dpop-resources.ts'
import type { ClientKey } from './proofs.ts'

/** What the proofs of a table are made with. */
export type Use = {
  prove: (claims?: object, by?: ClientKey, token?: string) => Promise<string>
  bearer: string
  urlOf: (path: string) => string
  otherKey: ClientKey
}
export const createOldNonce = (minutesAgo: number) => createNonce(new Date(Date.now() - minutesAgo * 60_000))
/** A request of a management surface. */
type Surface = { path: string; method: string; init: RequestInit; headers: Record<string, string> }
export const SURFACES: Record<string, Surface> = {
  REST: { path: '/api/v1/users?pageSize=1', method: 'GET', init: {}, headers: {} },
  GraphQL: {
    path: '/graphql',
    method: 'POST',
    init: { body: '{"query":"{ users { page } }"}' },
    headers: { 'content-type': 'application/json' },
  },
  'GraphQL by GET': {
    path: '/graphql?query={users{page}}',
    method: 'GET',
    init: {},
    headers: { accept: 'application/json' },
  },
}

/** With calls of the management surfaces that carry a proof. */
export const test = base.extend(
  'call',
  { scope: 'file' },
  ({ app, tenant }) =>
    async (surface: Surface, scheme: string, token: string, proof: string | null, more: object = {}) => {
      const response = await app.fetch(`/${tenant}${surface.path}`, {
        method: surface.method,
        headers: {
          ...surface.headers,
          authorization: `${scheme} ${token}`,
          ...(proof !== null && { dpop: proof }),
          ...more,
        },
        ...surface.init,
      })
      return {
        status: response.status,
        headers: response.headers,
        challenge: response.headers.get('www-authenticate') ?? '',
        nonce: response.headers.get('dpop-nonce'),
        body: await response.text(),
      }
    },
)
