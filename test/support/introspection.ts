import { answerIn, basic } from './protocol.ts'
import { test as base } from './visitor.ts'

export const API = 'https://orders.example.com'
export const OTHER_API = 'https://stock.example.com'
export const INACTIVE = { status: 200, body: { active: false } }

type ClientCredentials = { id: string; secret: string }

/**
 * `test` with the introspection endpoint, two resource servers, and tokens of a user and of a machine client.
 */
export const test = base
  .extend('client', { scope: 'file' }, ({ newClient }) => newClient({ scopes: ['users:read'] }))
  .extend('visitor', { scope: 'file' }, ({ newVisitor }) => newVisitor({ name: 'Ada Lovelace' }))
  /** A client that declares API and has no tokens. */
  .extend('resourceServer', { scope: 'file' }, ({ newClient }) => newClient({ resources: [API] }))
  .extend('otherServer', { scope: 'file' }, ({ newClient }) => newClient({ resources: [OTHER_API] }))
  .extend('machine', { scope: 'file' }, ({ newClient }) =>
    newClient({ appType: 'machine', callbacks: [], scopes: ['users:read', 'users:write'] }),
  )
  .extend(
    'introspect',
    { scope: 'file' },
    ({ app, tenant }) =>
      async (token: string, by: ClientCredentials | null, more: Record<string, string> = {}, at = tenant) => {
        const response = await app.fetch(`/${at}/oidc/introspect`, {
          method: 'POST',
          headers: by ? { authorization: basic(by) } : {},
          body: new URLSearchParams({ token, ...more }),
        })
        const body = (await response.json()) as Record<string, unknown>
        return { status: response.status, headers: response.headers, body }
      },
  )
  /** Tokens of the signed-in user for `of`. Both APIs are declared by then. */
  .extend(
    'userTokens',
    { scope: 'file' },
    ({ oidc, client, visitor, resourceServer, otherServer }) =>
      async (scope = 'openid offline_access', resources = [API], of: ClientCredentials = client) => {
        if (!resourceServer || !otherServer) throw new Error('no resource servers')
        const path = new URL(oidc.authorizePath({ prompt: 'none', scope }, of), 'http://localhost')
        for (const resource of resources) path.searchParams.append('resource', resource)
        const response = await visitor.browser.fetch(path.pathname + path.search)
        const { code = '' } = answerIn(response.headers.get('location'))
        const { body } = await oidc.exchange(code, {}, of)
        return { access: body.access_token as string, refresh: body.refresh_token as string }
      },
  )
  .extend(
    'machineToken',
    { scope: 'file' },
    ({ oidc, machine, resourceServer }) =>
      async (form: Record<string, string> = {}) => {
        if (!resourceServer) throw new Error('no resource server')
        const { body } = await oidc.token({ grant_type: 'client_credentials', ...form }, machine)
        return body.access_token as string
      },
  )
