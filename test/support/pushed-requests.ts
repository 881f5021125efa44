import { dbFor } from './database.ts'
import { test as base } from './openid-client.ts'
import { basic } from './protocol.ts'

export type Form = Record<string, string | null>
type ClientCredentials = { id: string; secret: string }
type PushOptions = { at?: string; headers?: Record<string, string> }
type PathFor = (requestUri: string, of?: { id: string }, more?: Record<string, string>, at?: string) => string
type PushRequest = (more?: Form, by?: ClientCredentials) => Promise<string>
/** What the path of a request with a request_uri is made of. */
export type Own = {
  pathFor: PathFor
  pushRequest: PushRequest
  client: ClientCredentials
  other: ClientCredentials
}

export const SPA_ORIGIN = 'https://spa.example.com'
export const PREFIX = 'urn:ietf:params:oauth:request_uri:'

/** `test` with pushed authorization requests. */
export const test = base
  .extend('other', { scope: 'file' }, ({ newClient }) => newClient())
  .extend('spaClient', { scope: 'file' }, ({ newClient }) =>
    newClient({ appType: 'single-page', allowedOrigins: [SPA_ORIGIN] }),
  )
  .extend('pushing', { scope: 'file' }, ({ newClient }) => newClient({ requirePushedRequests: true }))
  /** The parameters of a valid request. */
  .extend(
    'good',
    { scope: 'file' },
    ({ oidc }) =>
      (of: ClientCredentials, more: Form = {}): URLSearchParams =>
        new URLSearchParams(oidc.authorizePath(more, of).split('?')[1]),
  )
  .extend(
    'push',
    { scope: 'file' },
    ({ app, tenant, client }) =>
      async (
        body: URLSearchParams,
        by: ClientCredentials | null = client,
        { at = tenant, headers = {} }: PushOptions = {},
      ) => {
        const response = await app.fetch(`/${at}/oidc/par`, {
          method: 'POST',
          headers: { ...(by?.secret && { authorization: basic(by) }), ...headers },
          body,
        })
        return {
          status: response.status,
          headers: response.headers,
          body: (await response.json()) as Record<string, string>,
        }
      },
  )
  /** Pushes a valid request; returns its request_uri. */
  .extend(
    'pushRequest',
    { scope: 'file' },
    ({ client, good, push }): PushRequest =>
      async (more = {}, by = client) =>
        (await push(good(by, more), by)).body.request_uri as string,
  )
  /** The path of an authorization request with a request_uri. */
  .extend(
    'pathFor',
    { scope: 'file' },
    ({ tenant, client }): PathFor =>
      (requestUri, of = client, more = {}, at = tenant) =>
        `/${at}/oidc/authorize?${new URLSearchParams({ client_id: of.id, request_uri: requestUri, ...more })}`,
  )
  /** Counts the sign-ins of the tenant that have started. */
  .extend(
    'countInteractions',
    { scope: 'file' },
    ({ tenant }) =>
      () =>
        dbFor(tenant).interaction.count({ where: { tenantId: tenant } }),
  )
