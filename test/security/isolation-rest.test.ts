import { describe, expect } from 'vitest'
import { SYSTEM_SCOPES } from '../../src/core/scopes.ts'
import type { RestRoute } from '../../src/rest/route.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { tokenFor } from '../support/actors.ts'
import type { Answer } from '../support/app.ts'
import { test as base, hashTables, type Ids, scopesWithout, UNKNOWN_IDS } from '../support/isolation.ts'
import { hasServices } from '../support/services.ts'

type Route = (typeof restRoutes)[number]

/** Bodies that are valid up to the ids in the path. */
const BODIES: Record<string, object> = {
  addIdpUser: { externalId: 'x' },
  linkIdpUser: { idToken: 'x' },
  setUserRoles: { roles: [] },
  createOrganizationDomain: { domain: 'acme.example' },
  createMembership: { userId: UNKNOWN_IDS.userId },
  setUserAppRoles: { appRoleIds: [] },
  setClientAppRoles: { appRoleIds: [] },
  setMembershipAppRoles: { appRoleIds: [] },
  setGroupAppRoles: { appRoleIds: [] },
  addGroupMembers: { userIds: [UNKNOWN_IDS.userId] },
  deleteGroupMembers: { userIds: [UNKNOWN_IDS.userId] },
  replayWebhook: { after: 'MC4wLjA' },
  registerTrustedDocuments: { documents: [{ documentId: 'a', text: '{ __typename }' }] },
}

/** Every route of the REST API with its name. */
const routes = restRoutes.map((route): [string, Route] => [`${route.method} ${route.path}`, route])
const toBody = ({ method, operationId }: Route) =>
  method === 'GET' || method === 'DELETE' ? undefined : (BODIES[operationId] ?? {})

/** With calls of every route by a token of either tenant. */
const test = base.extend(
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

/** What names the missing scope; the scopes of tenant system cannot be granted elsewhere. */
const toScopeMessage = ({ scope }: RestRoute): string =>
  SYSTEM_SCOPES.includes(scope) ? 'exists in tenant system only' : scope

describe.runIf(hasServices)('every REST route', () => {
  test.for(routes)(
    '%s rejects a missing, foreign or revoked token with 401',
    async ([, route], { call, own, foreign, narrowedToken, revokedTokens }) => {
      const before = await hashTables(own.tenant)
      for (const token of [null, foreign.token, narrowedToken, ...revokedTokens, 'garbage'])
        expect(await call(token, route)).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED' } })
      expect(await hashTables(own.tenant)).toEqual(before)
    },
  )

  test.for(routes)(
    '%s rejects a token without its scope, and a user without a role, with 403',
    async ([, route], { call, own, userToken }) => {
      const before = await hashTables(own.tenant)
      for (const token of [
        await tokenFor(own.tenant, scopesWithout([route.scope, ...(route.otherScopes ?? [])])),
        userToken,
      ])
        expect(await call(token, route)).toMatchObject({
          status: 403,
          body: { code: 'FORBIDDEN', message: expect.stringContaining(toScopeMessage(route)) },
        })
      expect(await hashTables(own.tenant)).toEqual(before)
    },
  )

  test.for(routes.filter(([, { path }]) => path.includes(':')))(
    '%s answers an id of another tenant like an unknown id',
    async ([, route], { call, own, foreign }) => {
      const before = await hashTables(foreign.tenant)
      const [other, unknown] = [
        await call(own.token, route, foreign),
        await call(own.token, route, UNKNOWN_IDS),
      ]
      const withoutRequestId = ({ status, body }: Answer) => ({ status, body: { ...body, requestId: '' } })
      expect(withoutRequestId(other)).toEqual(withoutRequestId(unknown))
      expect(other.status).toBe(route.scope.startsWith('tenants:') ? 403 : 404)
      expect(await hashTables(foreign.tenant)).toEqual(before)
    },
  )

  test('rejects secrets and addresses of another tenant in bodies and queries', async ({
    rest,
    own,
    foreign,
    inbox,
  }) => {
    const before = await hashTables(foreign.tenant)
    const post = (path: string, body: object) => rest('POST', path, body, { token: own.token })
    expect((await post('/sessions/authenticate', { sessionToken: foreign.sessionToken })).status).toBe(401)
    expect((await post('/passcodes/email', { to: foreign.email })).status).toBe(404)
    await rest('POST', '/passcodes/email', { to: foreign.email }, foreign)
    const code = await inbox.codeFor(foreign.email)
    expect((await post('/passcodes/authenticate', { to: foreign.email, code })).status).toBe(401)
    expect((await rest('GET', `/users/by-email?email=${foreign.email}`)).status).toBe(404)
    // The request for a code at the foreign tenant itself is the only change.
    const changed = { Passcode: '', Event: '' }
    expect({ ...(await hashTables(foreign.tenant)), ...changed }).toEqual({ ...before, ...changed })
  })
})
