import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { test as base } from './fixtures.ts'
import type { Json } from './json.ts'

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

type ScimAnswer = { status: number; headers: Headers; body: Json }
export type Scim = {
  key: string
  call: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<ScimAnswer>
}

export const test = base.extend(
  'scim',
  { scope: 'file' },
  ({ app, ctx }) =>
    async (more: object = {}): Promise<Scim> => {
      const { key } = await createApiKey(ctx, { name: 'Directory', scopes: ['scim:write'], ...more })
      return {
        key,
        call: async (method, path, body, headers = {}) => {
          const response = await app.fetch(`/${ctx.tenant}/scim/v2${path}`, {
            method,
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/scim+json', ...headers },
            body: body === undefined ? null : JSON.stringify(body),
          })
          const text = await response.text()
          return {
            status: response.status,
            headers: response.headers,
            body: text === '' ? null : JSON.parse(text),
          }
        },
      }
    },
)
