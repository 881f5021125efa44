// The floor: a server of node:http, pg and node:crypto that does only what each operation must. One statement where
// something is stored or revoked, the signatures of the tokens, and the same answers in outline. The benchmark divides the
// cost of Vestibule by its cost, so that a figure of one machine can be read on another.
//
// DATABASE_URL, PORT and FLOOR_KEY (of client secret, codes and refresh tokens) are set by bench.ts.
import {
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import pg from 'pg'

const KEY = process.env.FLOOR_KEY ?? ''
const TENANT = process.env.FLOOR_TENANT
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, application_name: 'floor' })
await pool.query(`
  CREATE TABLE IF NOT EXISTS floor_grant (id text PRIMARY KEY, user_id text NOT NULL, generation int NOT NULL DEFAULT 0);
  CREATE TABLE IF NOT EXISTS floor_session (token bytea PRIMARY KEY, user_id text NOT NULL, expires_at timestamptz NOT NULL)`)

const generateKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { privateKey, publicKey } = generateKeys()
/** The keys of tenants, by the query of a token request. */
const tenantKeys = new Map<string, KeyObject>()

function getTenantKey(query: string): KeyObject {
  const key = tenantKeys.get(query) ?? generateKeys().privateKey
  tenantKeys.set(query, key)
  return key
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const HEADER = encode({ alg: 'ES256', typ: 'at+jwt', kid: 'floor' })
const computeMac = (text: string): string => createHmac('sha256', KEY).update(text).digest('base64url')
const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
const SECRET_HASH = hash(`floor:${KEY}`)

function issueToken(subject: string, key = privateKey): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: 'floor',
    aud: 'floor',
    sub: subject,
    client_id: 'floor',
    iat: now,
    exp: now + 3600,
    jti: randomBytes(16).toString('base64url'),
  }
  const input = `${HEADER}.${encode(claims)}`
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

function readToken(token: string): { sub: string; exp: number } | null {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  if (!verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')))
    return null
  const read = JSON.parse(Buffer.from(claims, 'base64url').toString())
  return read.exp > Date.now() / 1000 ? read : null
}

const isClient = ({ headers }: IncomingMessage): boolean => {
  const [id = '', secret = ''] = Buffer.from(headers.authorization?.slice(6) ?? '', 'base64')
    .toString()
    .split(':')
  return timingSafeEqual(hash(`${id}:${secret}`), SECRET_HASH)
}

const issueUserTokens = (grantId: string, userId: string, generation: number) => {
  const body = `${grantId}.${generation}`
  return {
    access_token: issueToken(userId),
    id_token: issueToken(userId),
    refresh_token: `${body}.${computeMac(body)}`,
    token_type: 'Bearer',
    expires_in: 3600,
  }
}

const first = async (name: string, text: string, values: unknown[]) =>
  (await pool.query({ name, text, values })).rows[0]

async function redeemCode(code: string): Promise<object | null> {
  const [grantId = '', mac = ''] = code.split('.')
  if (mac !== computeMac(grantId)) return null
  const row = await first(
    'redeem',
    'INSERT INTO floor_grant (id, user_id) SELECT $1, id FROM "User" WHERE "tenantId" = $2 AND id = $3 AND NOT locked ON CONFLICT DO NOTHING RETURNING user_id',
    [grantId, TENANT, process.env.FLOOR_USER],
  )
  return row ? issueUserTokens(grantId, row.user_id, 0) : null
}

async function refreshGrant(token: string): Promise<object | null> {
  const [grantId = '', generation = '', mac = ''] = token.split('.')
  if (mac !== computeMac(`${grantId}.${generation}`)) return null
  const row = await first(
    'refresh',
    'UPDATE floor_grant SET generation = generation + 1 WHERE id = $1 AND generation = $2 RETURNING user_id',
    [grantId, Number(generation)],
  )
  return row ? issueUserTokens(grantId, row.user_id, Number(generation) + 1) : null
}

async function answerToken(request: IncomingMessage, body: string): Promise<object | null> {
  if (!isClient(request)) return null
  const form = new URLSearchParams(body)
  const grantType = form.get('grant_type')
  if (grantType === 'authorization_code') return redeemCode(form.get('code') ?? '')
  if (grantType === 'refresh_token') return refreshGrant(form.get('refresh_token') ?? '')
  const query = request.url?.split('?', 2)[1]
  const token = issueToken('floor', query ? getTenantKey(query) : privateKey)
  return { access_token: token, token_type: 'Bearer', expires_in: 3600, scope: 'users:read' }
}

const findSession = (token: string) =>
  first(
    'session',
    'SELECT s.user_id, u.name, u.email, u.roles FROM floor_session s JOIN "User" u ON u."tenantId" = $2 AND u.id = s.user_id WHERE s.token = $1 AND s.expires_at > now() AND NOT u.locked',
    [hash(token), TENANT],
  )

async function answerAuthorize(
  { headers }: IncomingMessage,
  response: ServerResponse,
): Promise<object | null> {
  const session = await findSession(headers.cookie?.split('=')[1] ?? '')
  if (!session) return null
  const id = randomBytes(20).toString('hex')
  response.statusCode = 303
  response.setHeader('location', `https://rp.example.com/callback?code=${id}.${computeMac(id)}`)
  return {}
}

const SELECT_USERS = 'SELECT * FROM "User" WHERE "tenantId" = $1 ORDER BY id LIMIT 51'
const listUsers = async () =>
  (await pool.query({ name: 'users', text: SELECT_USERS, values: [TENANT] })).rows.slice(0, 50)

const HANDLERS: Record<
  string,
  (request: IncomingMessage, response: ServerResponse, body: string) => Promise<object | null>
> = {
  '/health/ready': async () => ({}),
  '/token': (request, _response, body) => answerToken(request, body),
  '/userinfo': async ({ headers }) => {
    const claims = readToken(headers.authorization?.slice(7) ?? '')
    return (
      claims &&
      (await first(
        'userinfo',
        'SELECT id AS sub, name, email FROM "User" WHERE "tenantId" = $1 AND id = $2 AND NOT locked',
        [TENANT, claims.sub],
      ))
    )
  },
  '/introspect': async (request, _response, body) =>
    isClient(request) ? { active: true, ...readToken(new URLSearchParams(body).get('token') ?? '') } : null,
  '/authorize': (request, response) => answerAuthorize(request, response),
  '/session': async (_request, _response, body) => (await findSession(JSON.parse(body).sessionToken)) ?? null,
  '/users': async () => ({ users: await listUsers() }),
}

/** graphql-yoga with a resolver of one statement. */
const yoga = createYoga({
  graphqlEndpoint: '/graphql',
  logging: false,
  schema: createSchema({
    typeDefs: `
      type User { id: ID! name: String givenName: String familyName: String email: String emailVerified: Boolean phoneNumber: String
        locked: Boolean lockedAt: String lastSeenAt: String updatedAt: String createdAt: String }
      type Users { nodes: [User!]! }
      type Query { users: Users }`,
    resolvers: {
      Query: { users: async () => ({ nodes: await listUsers() }) },
      User: Object.fromEntries(
        ['lockedAt', 'lastSeenAt', 'updatedAt', 'createdAt'].map((name) => [
          name,
          (row: Record<string, Date | null>) => row[name]?.toISOString(),
        ]),
      ),
    },
  }),
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url?.split('?', 1)[0] ?? ''
  if (path === '/graphql') return yoga(request, response)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const value = await HANDLERS[path]?.(request, response, Buffer.concat(chunks).toString())
  if (!value) response.statusCode = 400
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value ?? { error: 'invalid_request' }))
}

createServer((request, response) => {
  answer(request, response).catch((error: Error) => response.writeHead(500).end(error.message))
}).listen(Number(process.env.PORT), '127.0.0.1')
