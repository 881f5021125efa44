import { randomUUID } from 'node:crypto'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'

/** Options of a request: by default without a key, for the file's tenant and with its token. */
export type SendOptions = { key?: string; bearer?: string; tenant?: string }
type Sent = { status: number; headers: Headers; text: string; body: Json }

export const isReplayed = ({ headers }: { headers: Headers }): boolean =>
  headers.get('idempotency-replayed') === 'true'
export const newEmail = (): string => `${randomUUID()}@example.com`

/** A token of another machine client of `tenant`. */
export async function otherCaller(
  tenant: string,
  scopes: readonly Scope[],
  audience = tenant,
  allTenants = false,
): Promise<string> {
  const { client } = await createClient(createPlatformCtx(tenant), {
    name: 'Other',
    appType: 'machine',
    type: 'login',
    scopes: [...scopes],
    allTenants,
  })
  return issueAccessToken(tenant, {
    subject: client.id,
    clientId: client.id,
    scopes,
    audience: [apiAudienceOf(audience)],
    lifetimeSeconds: 600,
  })
}

/** `test` with requests that may have an Idempotency-Key. */
export const test = base
  .extend(
    'send',
    { scope: 'file' },
    ({ app, tenant: ownTenant, token }) =>
      async (
        path: string,
        body: unknown,
        { key, bearer = token, tenant = ownTenant }: SendOptions = {},
      ): Promise<Sent> => {
        const response = await app.fetch(`/${tenant}${path}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${bearer}`,
            'content-type': 'application/json',
            ...(key !== undefined && { 'idempotency-key': key }),
          },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        })
        const text = await response.text()
        return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
      },
  )
  .extend(
    'post',
    { scope: 'file' },
    ({ send }) =>
      (path: string, body: unknown, options?: SendOptions) =>
        send(`/api/v1${path}`, body, options),
  )
  .extend(
    'postGraphql',
    { scope: 'file' },
    ({ send }) =>
      (query: string, variables: object, options?: SendOptions) =>
        send('/graphql', { query, variables }, options),
  )
