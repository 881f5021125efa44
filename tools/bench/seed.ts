import { createHash, randomBytes } from 'node:crypto'
import { typeid } from 'typeid-js'
import type { Deployment } from './deployment.ts'

const TENANT = 'bench'
export const REDIRECT_URI = 'https://rp.example.com/callback'
const OPERATOR_SCOPES =
  'users:read users:write clients:read clients:write tenant:read sessions:read sessions:write users:read_app_metadata'

export type Credentials = { id: string; secret: string }
/** The tenant, clients and token of the scenarios. */
export type Seed = {
  tenant: string
  machine: Credentials
  web: Credentials
  /** Management access token for the tenant. */
  token: string
  userId: string
}

export const basic = ({ id, secret }: Credentials): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

/** Sends a form or JSON; throws unless it is answered with 2xx and without errors. */
export async function post(url: string, headers: Record<string, string>, body: string | object) {
  const isForm = typeof body === 'string'
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
      ...headers,
    },
    body: isForm ? body : JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok || answer.errors)
    throw new Error(`${url} answered ${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

/** Calls the token endpoint; throws unless it answers with 2xx. */
export const askToken = (
  origin: string,
  client: Credentials,
  form: Record<string, string>,
  tenant = TENANT,
) =>
  post(
    `${origin}/${tenant}/oidc/token`,
    { authorization: basic(client) },
    new URLSearchParams(form).toString(),
  )

/** Creates a tenant with `users` users, a machine client and a relying party. */
export async function seed({ origin, operator, db }: Deployment, users: number): Promise<Seed> {
  const root = await askToken(
    origin,
    operator,
    { grant_type: 'client_credentials', scope: 'tenants:write' },
    'system',
  )
  await post(
    `${origin}/system/graphql`,
    { authorization: `Bearer ${root.access_token}` },
    {
      query:
        'mutation ($slug: String!) { createTenant(input: {slug: $slug}) { __typename ... on UserError { message } } }',
      variables: { slug: TENANT },
    },
  )
  const { access_token: token } = await askToken(
    origin,
    operator,
    { grant_type: 'client_credentials', scope: OPERATOR_SCOPES, resource: `${origin}/${TENANT}/api` },
    'system',
  )
  const createClient = (body: object): Promise<Credentials> =>
    post(
      `${origin}/${TENANT}/api/v1/clients`,
      { authorization: `Bearer ${token}` },
      { type: 'login', ...body },
    )
  const machine = await createClient({ name: 'Backend', appType: 'machine', scopes: ['users:read'] })
  const web = await createClient({ name: 'Relying party', appType: 'web', callbacks: [REDIRECT_URI] })

  const ids = Array.from({ length: users }, () => typeid('user').toString())
  await db.query(
    `INSERT INTO "User" ("tenantId", "id", "name", "givenName", "familyName", "email", "emailKey", "emailVerified")
     SELECT $1, id, 'Person ' || n, 'Person', 'Number ' || n, 'p' || n || '@example.com', 'p' || n || '@example.com', true
     FROM unnest($2::text[]) WITH ORDINALITY AS t(id, n)`,
    [TENANT, ids],
  )
  await db.query('ANALYZE')
  return { tenant: TENANT, machine, web, token, userId: ids[0] as string }
}

/** How many authorize requests wait for their answers at the same time. */
const CONCURRENT = 20

/** Starts a session of the user at the floor; returns its token. */
export async function requestSession(db: Deployment['db'], userId: string): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await db.query(`INSERT INTO floor_session VALUES ($1, $2, now() + interval '1 hour')`, [
    hashToken(token),
    userId,
  ])
  return token
}

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Starts a session of the user; returns its token. */
export async function startSession(
  { db }: Deployment,
  { tenant, userId }: Seed,
  kind: 'browser' | 'api',
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await db.query(
    `INSERT INTO "Session" ("tenantId", "id", "userId", "kind", "tokenHash", "proofs", "expiresAt")
     VALUES ($1, $2, $3, $4, $5, jsonb_build_array(jsonb_build_object('method', 'passcode', 'amr', '["otp"]'::jsonb, 'at', now())), now() + interval '1 hour')`,
    [tenant, typeid('session').toString(), userId, kind, hashToken(token)],
  )
  return token
}

/** The path of an authorize request of the relying party. */
export const buildAuthorizePath = ({ tenant, web }: Seed): string =>
  `/${tenant}/oidc/authorize?${new URLSearchParams({
    response_type: 'code',
    client_id: web.id,
    redirect_uri: REDIRECT_URI,
    scope: 'openid profile email offline_access',
  })}`

/** Asks for `count` authorization codes with a session of the user. They are valid for a minute. */
export async function requestCodes(deployment: Deployment, seed: Seed, count: number): Promise<string[]> {
  const headers = { cookie: `vst_sid_${seed.tenant}=${await startSession(deployment, seed, 'browser')}` }
  const url = `${deployment.origin}${buildAuthorizePath(seed)}`
  const codes: string[] = []
  const request = async () => {
    while (codes.length < count) {
      const answer = await fetch(url, { headers, redirect: 'manual' })
      codes.push(new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? '')
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, request))
  return codes
}
