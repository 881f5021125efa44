import type autocannon from 'autocannon'
import type { Deployment } from './deployment.ts'
import type { Scenario } from './measure.ts'
import {
  askToken,
  basic,
  buildAuthorizePath,
  REDIRECT_URI,
  requestCodes,
  type Seed,
  startSession,
} from './seed.ts'

const FORM = 'application/x-www-form-urlencoded'
const CODES = 3000
/** More than the connections: a token rotates once, and the end of a run loses those in flight. */
const FAMILIES = 100

const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString()
const redeem = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI })

/** The operations that are measured, on the data of `seed`. */
export async function scenariosFor(deployment: Deployment, seed: Seed): Promise<Scenario[]> {
  const { tenant, machine, web, token } = seed
  const tokenPath = `/${tenant}/oidc/token`
  const asWeb = { 'content-type': FORM, authorization: basic(web) }
  const asManager = { authorization: `Bearer ${token}` }

  let codes = await requestCodes(deployment, seed, FAMILIES)
  const families = await Promise.all(codes.map((code) => askToken(deployment.origin, web, redeem(code))))
  const browserSession = await startSession(deployment, seed, 'browser')
  const apiSession = await startSession(deployment, seed, 'api')
  const refreshTokens = families.map((family) => family.refresh_token as string)
  const personToken = families[0].access_token as string

  const refresh: autocannon.Request = {
    method: 'POST',
    path: tokenPath,
    headers: asWeb,
    setupRequest: (request) => ({
      ...request,
      body: form({ grant_type: 'refresh_token', refresh_token: refreshTokens.pop() ?? '' }),
    }),
    onResponse: (_status, body) => refreshTokens.push(JSON.parse(body).refresh_token),
  }
  const graphql = (query: string): autocannon.Request => ({
    method: 'POST',
    path: `/${tenant}/graphql`,
    headers: { ...asManager, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  const nodes =
    'nodes { id name givenName familyName email emailVerified phoneNumber locked lockedAt lastSeenAt updatedAt createdAt }'

  return [
    {
      name: 'client_credentials',
      requests: [
        {
          method: 'POST',
          path: tokenPath,
          headers: { 'content-type': FORM, authorization: basic(machine) },
          body: form({ grant_type: 'client_credentials', scope: 'users:read' }),
        },
      ],
    },
    {
      name: 'code exchange',
      amount: CODES,
      prepare: async (amount) => {
        codes = await requestCodes(deployment, seed, amount)
      },
      requests: [
        {
          method: 'POST',
          path: tokenPath,
          headers: asWeb,
          setupRequest: (request) => ({ ...request, body: form(redeem(codes.pop() ?? '')) }),
        },
      ],
    },
    { name: 'refresh', requests: [refresh] },
    {
      name: 'userinfo',
      requests: [{ path: `/${tenant}/oidc/userinfo`, headers: { authorization: `Bearer ${personToken}` } }],
    },
    {
      name: 'introspection',
      requests: [
        {
          method: 'POST',
          path: `/${tenant}/oidc/introspect`,
          headers: asWeb,
          body: form({ token: personToken }),
        },
      ],
    },
    {
      name: 'authorize, live session',
      requests: [
        {
          path: buildAuthorizePath(seed),
          headers: { cookie: `vst_sid_${seed.tenant}=${browserSession}` },
          onResponse: (_status, _body, _context, headers) => {
            if (!String((headers as { location?: string }).location).includes('code='))
              throw new Error('no code')
          },
        },
      ],
    },
    {
      name: 'session check',
      requests: [
        {
          method: 'POST',
          path: `/${tenant}/api/v1/sessions/authenticate`,
          headers: { ...asManager, 'content-type': 'application/json' },
          body: JSON.stringify({ sessionToken: apiSession }),
        },
      ],
    },
    { name: 'GraphQL users, 50 of 12 fields', requests: [graphql(`{ users { ${nodes} } }`)] },
    { name: 'the same with totalSize', requests: [graphql(`{ users { totalSize ${nodes} } }`)] },
    { name: 'REST users, 50', requests: [{ path: `/${tenant}/api/v1/users`, headers: asManager }] },
  ]
}
