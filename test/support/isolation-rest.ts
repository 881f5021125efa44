import { restRoutes } from '../../src/server/rest-routes.ts'
import type { Answer } from './app.ts'
import { test as base, type Ids } from './isolation.ts'

type Route = (typeof restRoutes)[number]

/** Bodies that are valid up to the ids in the path. */
const BODIES: Record<string, object> = {
  addIdpUser: { externalId: 'x' },
  linkIdpUser: { idToken: 'x' },
  setUserRoles: { roles: [] },
}

/** Every route of the REST API with its name. */
export const routes = restRoutes.map((route): [string, Route] => [`${route.method} ${route.path}`, route])
const toBody = ({ method, operationId }: Route) =>
  method === 'GET' || method === 'DELETE' ? undefined : (BODIES[operationId] ?? {})

/** With calls of every route by a token of either tenant. */
export const test = base.extend(
  'call',
  { scope: 'file' },
  ({ app, own, foreign }) =>
    (token: string | null, route: Route, ids: Ids = own): Promise<Answer> => {
      const path = route.path.replace(/:(\w+)/g, (_, name: string) =>
        name === 'slug' ? foreign.tenant : String((ids as Record<string, unknown>)[name] ?? 'missing'),
      )
      const query = path.endsWith('by-email')
        ? `?email=${foreign.email}-x`
        : path.endsWith('by-phone-number')
          ? '?phoneNumber=%2B41791112299'
          : ''
      return app.rest(own.tenant, token, route.method, path + query, toBody(route))
    },
)
