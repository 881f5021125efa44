import { SCOPE_NAMES, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { createRestApp } from '../../src/rest/rest.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { tokenFor } from './actors.ts'
import type { Json } from './json.ts'

const app = createRestApp(restRoutes)

/** Calls the REST API without a connection, which takes half the time. The runtime must be open. */
export async function callDirectly(
  tenant: string,
  [method, path, body]: [method: string, path: string, body?: unknown],
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Json }> {
  const response = await app.fetch(
    new Request(`http://localhost/${tenant}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await findToken(tenant)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  return { status: response.status, body: await response.json() }
}

const tokens = new Map<string, Promise<string>>()
function findToken(tenant: string): Promise<string> {
  const token = tokens.get(tenant) ?? tokenFor(tenant, tenant === SYSTEM_TENANT ? SCOPE_NAMES : undefined)
  tokens.set(tenant, token)
  return token
}
