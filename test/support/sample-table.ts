import { generateKeyPairSync } from 'node:crypto'
import { expect, vi } from 'vitest'
import { PageBrowser } from './page-browser.ts'
import { authorizePath } from './protocol.ts'
import type { SampleReader } from './sample-reader.ts'
import { makeWebClient } from './sample-viewer.ts'
import { computeTotp } from './totp.ts'

/** What documents leave open or do not mean to be run, by file. Each entry must be found there as printed. */
type ByFile<Value> = Record<string, Record<string, Value>>

const SETUP = 'installs, builds or starts this checkout, or runs its tests'
const DRILL = 'works on the whole database server; the drill of the page is done by hand'
const PROXY = 'configuration of a proxy; test/server/reverse-proxies.own.test.ts'
const DOCTOR = 'finds what the machine lacks; test/cli/doctor.own.test.ts'
const NAME = 'names commands whose rows in docs/command-line.md are tested'

/** Lines that are not run, with the reason: of sh samples the command, of others the sample that starts so. */
export const NOT_RUN: ByFile<string> = {
  'README.md': {
    'npm ci && npm start': SETUP,
    'npm run demo      # the main journey against the running server, step by step':
      'test/journeys/examples.own.test.ts',
    'npm ci && npm test': SETUP,
  },
  'CONTRIBUTING.md': {
    'npm ci': SETUP,
    'npm run dev       # starts and restarts after changes': SETUP,
    'npm test          # all tests': SETUP,
    'npx vitest run test/users/list.test.ts     # one file': SETUP,
    'npm run check     # what must pass before a change is merged': SETUP,
  },
  'docs/api.md': {
    "import type { CodegenConfig } from '@graphql-codegen/cli'": 'test/client-libraries/codegen.test.ts',
    'npm run seed -- --users 1000000      # a tenant full of plausible users': 'takes minutes',
    'mutation { createTenant(input: {slug: "acme", settings: {friendlyName: "Acme"}, administrator: {email: "grace@acme.example"}}) {':
      'works in tenant system only; test/tenants/create.test.ts',
    'vestibule admin grant EMAIL --tenant T': NAME,
    'vestibule user import': NAME,
    'vestibule user export': NAME,
  },
  'docs/claims.md': {
    '[': 'the mappings of libraries; test/oidc/token/mapped-claims.test.ts',
  },
  'docs/moving.md': {
    'vestibule import': NAME,
    'npx vestibule import realm-users.json --from keycloak --tenant acme --dry-run':
      'needs an export of Keycloak; test/users/sources.test.ts',
    '{"email": "ada@example.com", "emailVerified": true, "proof": {"hash": {"algorithm": "bcrypt", "value": "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"}}}':
      'a line of an import; test/old-passwords/import.test.ts',
    '{"email": "ada@example.com", "totpKey": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "identities": [{"idpId": "google", "externalId": "117"}]}':
      'a line of an import; test/users/import-parts.test.ts',
    '{"email": "ada@example.com", "passkeys": [{"id": "q7n4Fq2cTbGZ5l2YB1nKUw", "publicKey": "pQECAyYgASFYIC…", "userHandle": "YjBjN2EzZjI", "rpId": "id.example.com", "signCount": 0, "transports": ["internal"]}]}':
      'a line of an import; test/users/import-belongings.test.ts',
    '{"email": "ada@example.com", "appRoles": ["reader"], "groups": ["Staff"], "organizations": [{"slug": "acme", "externalId": "crm-1", "name": "Acme Inc.", "appRoles": ["order-clerk"], "groups": ["Order desk"]}]}':
      'a line of an import; test/users/import-belongings.test.ts',
  },
  'docs/sign-in/password.md': {
    'POST /prove HTTP/1.1': 'a request to the old system; test/old-passwords/proof-url.test.ts',
  },
  'docs/shared-signals.md': {
    'TOKEN=$(curl -s -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials -d scope=ssf.manage "$ISSUER/oidc/token" | jq -r .access_token)':
      'calls of a client; test/signals/transmitter.test.ts',
  },
  'docs/command-line.md': {
    'vestibule doctor': DOCTOR,
    'vestibule: 1': 'a file; test/cli/configuration.test.ts',
  },
  'docs/decisions/0217-doctor-asks-the-server-for-what-it-sees.md': { 'vestibule doctor': DOCTOR },
  'docs/observability.md': {
    '{"level":"info","time":"2026-11-28T09:30:00.120Z","method":"GET","route":"/:tenant/api/v1/users","status":200,"ms":12.3,"databaseMs":8.1,"statements":3,"tenant":"acme","client":"client_01k…","requestId":"0b54…","msg":"request"}':
      'a line; test/server/observed.own.test.ts',
  },
  'docs/webhooks.md': {
    "import { createServer } from 'node:http'": 'a receiver; test/webhooks/webhooks.test.ts',
    '{': 'a message; test/webhooks/webhooks.test.ts',
    'async function findMissed(lastPosition, seen) {': 'a part of a receiver; test/webhooks/webhooks.test.ts',
  },
  'docs/permissions.md': {
    '{ "aud": "https://api.shop.example", "roles": ["order-clerk"], "permissions": ["orders:read", "orders:write"] }':
      'claims of a token; test/oidc/token/permissions.test.ts',
    'vestibule admin grant': NAME,
  },
  'docs/scim.md': { 'https://id.example.com/demo/scim/v2': 'an address; test/scim/users.test.ts' },
  'docs/api-keys.md': {
    'curl -H "Authorization: Bearer $KEY" http://localhost:3000/demo/api/v1/users':
      'test/api-keys/authenticate.test.ts',
    'curl -u "$API_CLIENT_ID:$API_CLIENT_SECRET" -d token="$KEY" -d ip=203.0.113.9 http://localhost:3000/demo/oidc/introspect':
      'test/oidc/token/introspection.test.ts',
    '{': 'an answer; test/oidc/token/introspection.test.ts',
    '\\bvstb_[0-9A-Za-z]{49}\\b': 'a regular expression; test/api-keys/authenticate.test.ts',
  },
  'docs/compiled-queries.md': { '(run, source, path) => {': 'generated code, in short' },
  'docs/debugging.md': { "NODE_OPTIONS='--import ./tools/trace.mjs' npm start": 'test/tools/trace.test.ts' },
  'docs/decisions/0043-statements-take-named-parameters.md': {
    "const SELECT_NAME = statement({ takes: { id: 'text' }, returns: { name: 'text?' } })`":
      'a part of a module',
  },
  'docs/languages.md': { '{': 'two messages of a catalog in a language that does not exist yet' },
  'docs/operations.md': {
    'vestibule doctor': DOCTOR,
    "ALTER ROLE vestibule SET timezone = 'UTC';": 'test/database/role-settings.test.ts',
    'pool_mode = transaction': 'configuration of PgBouncer; test/faults/pgbouncer.test.ts',
    'pg_dump --format=custom --file=vestibule.dump "$DATABASE_URL"': DRILL,
    'createdb --template template0 --encoding UTF8 --locale C.UTF-8 vestibule_restored': DRILL,
    'pg_restore --exit-on-error --no-owner --single-transaction --dbname=vestibule_restored vestibule.dump':
      DRILL,
    'psql -c ANALYZE vestibule_restored': DRILL,
    'DATABASE_URL=postgresql://…/vestibule_restored node dist/main.js': DRILL,
    'vestibule users export': 'a command of an earlier version',
  },
  'docs/concepts.md': { 'deployment   https://id.example.com': 'a drawing' },
  'docs/reverse-proxies.md': {
    'vestibule doctor': DOCTOR,
    'upstream vestibule {': PROXY,
    defaults: PROXY,
    'id.example.com {': PROXY,
    'http:': 'Traefik could not be built on the machine of the tests',
  },
  'docs/row-readers.md': {
    '(fields) => ({ "id": fields[0], "createdAt": fields[1] === null ? null : parseDate(fields[1]) })':
      'generated code',
  },
  'docs/sign-in/identity-providers.md': {
    'vestibule idp test partner --tenant acme':
      'fails because the provider does not exist; test/cli/idp.test.ts',
    'mutation {': 'needs a sign-in at Google; test/idps/token-reads.test.ts',
  },
  'docs/sign-in/limits.md': { 'vestibule limit show': NAME },
  'docs/sign-in/passkey.md': {
    'PASSKEY_ORIGINS=https://app.example.com,https://shop.example':
      'a variable of the server; test/credentials/related-origins.own.test.ts',
  },
  'docs/sign-in/second-factor.md': { 'HTTP/1.1 401 Unauthorized': 'an answer of a resource server' },
}

const assignBackend = (reader: SampleReader): string => {
  const [id, secret] = reader.credentialsOf('Demo backend')
  return `CLIENT_ID=${id} CLIENT_SECRET=${secret}`
}

const newCoordinates = () => {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    format: 'jwk',
  })
  return { x, y }
}

/** What stands in the place of `…` and of other values that only a run knows. */
export const GIVEN: ByFile<(reader: SampleReader) => string | Promise<string>> = {
  'README.md': {
    "['…', '…']": ({ printed }) => {
      const [id, secret] = [/^id +(\S+)/m, /^secret +(\S+)/m].map((line) => line.exec(printed)?.[1])
      return JSON.stringify([id, secret])
    },
    'CLIENT_ID=… CLIENT_SECRET=…': assignBackend,
  },
  'docs/api.md': {
    'CLIENT_ID=… CLIENT_SECRET=…': assignBackend,
    'user_…': async (reader) => (await reader.rest('GET', '/users?search=grace')).users[0].id,
  },
  'docs/graphql.md': {
    'CLIENT_ID=… CLIENT_SECRET=…': assignBackend,
    "const token = '…'": async (reader) => `const token = '${await reader.token()}'`,
  },
  'docs/openid-connect.md': {
    '"x": "…", "y": "…"': () => JSON.stringify(newCoordinates()).slice(1, -1),
    'x: "…", y: "…"': () => {
      const { x, y } = newCoordinates()
      return `x: "${x}", y: "${y}"`
    },
    'requestId: "…"': async (reader) => {
      const rejected = await fetch(`${reader.origin}/${reader.tenant}/oidc/authorize?client_id=unknown`)
      const id = rejected.headers.get('x-request-id')
      // It is recorded after the answer.
      await vi.waitFor(
        async () => expect((await reader.rest('GET', `/events?requestId=${id}`)).events).not.toEqual([]),
        {
          timeout: 10_000,
        },
      )
      return `requestId: "${id}"`
    },
  },
  'docs/claims.md': {
    'client_…': async (reader) =>
      (
        await reader.rest('POST', '/clients', {
          type: 'login',
          appType: 'web',
          name: 'Shop',
          callbacks: ['https://shop.example/cb'],
        })
      ).id,
    'user_…': async (reader) => (await reader.rest('POST', '/users', {})).id,
  },
  'docs/organizations.md': {
    'organization_…': async (reader) => (await reader.rest('GET', '/organizations')).organizations[0].id,
    'user_…': async (reader) => (await reader.rest('POST', '/users', {})).id,
    '0b4c…': () => '0b4c1f5e',
    'role_…': async (reader) => {
      const [{ id: organizationId }] = (await reader.rest('GET', '/organizations')).organizations
      await reader.rest('POST', '/idps', {
        id: 'acme-entra',
        type: 'oidc',
        name: 'Acme Entra',
        issuer: 'https://login.acme.example',
        clientId: 'id',
        clientSecret: 'secret',
        organizationId,
      })
      return (await reader.rest('POST', '/app-roles', { name: 'member', assignableTo: ['member'] })).id
    },
  },
  'docs/scim.md': {
    'organization_…': async (reader) =>
      (await reader.rest('POST', '/organizations', { slug: 'acme', name: 'Acme' })).id,
  },
  'docs/permissions.md': {
    'organization_…': async (reader) => {
      const [{ id, permissions }] = (await reader.rest('GET', '/apis')).apis
      await reader.rest('PATCH', `/apis/${id}`, {
        permissions: permissions.map((permission: object) => ({
          ...permission,
          isAllowedInOrganizations: true,
        })),
      })
      return (await reader.rest('POST', '/organizations', { slug: 'acme', name: 'Acme' })).id
    },
    'api_…': async (reader) => (await reader.rest('GET', '/apis')).apis[0].id,
    'role_…': async (reader) => (await reader.rest('GET', '/app-roles')).appRoles[0].id,
    'user_…': async (reader) => (await reader.rest('POST', '/users', {})).id,
  },
  'docs/sign-in/identity-providers.md': {
    'clientId: "…", clientSecret: "…"': () => 'clientId: "id", clientSecret: "secret"',
  },
  'docs/sign-in/second-factor.md': {
    'token: "…", code: "…"': ({ answer }) => {
      const { token, secret } = answer.createViewerTotp
      return `token: "${token}", code: "${computeTotp(secret)}"`
    },
  },
}

/** Files that commands read, by document and name. */
export const FILES: ByFile<string> = {
  'docs/api.md': {
    'users.ndjson': '{"email":"imported@example.com","name":"Imported"}\n',
    'people.csv': 'E-mail,First name,Room\nsample@example.com,Sample,12\n',
  },
  'docs/sign-in/identity-providers.md': { 'secret.txt': 'secret' },
}

/** Where a JSON sample is sent, by its first line; others are settings of the tenant. */
export const SENT: ByFile<(reader: SampleReader, body: Record<string, unknown>) => Promise<unknown>> = {
  'docs/languages.md': { '{ "name": "Shop",': changeClient },
  'docs/openid-connect.md': { '{"jwks":': changeClient },
  'docs/sign-in/passkey.md': { '{ "id_token":': authorizeWithClaims },
}

async function changeClient(reader: SampleReader, body: object): Promise<void> {
  const { id } = await makeWebClient(reader)
  await reader.rest('PATCH', `/clients/${id}`, body)
}

/** Sends an authorize request, which must lead to a page. */
async function authorizeWithClaims(reader: SampleReader, claims: object): Promise<void> {
  const { origin, tenant } = reader
  const client = await makeWebClient(reader)
  const path = authorizePath(tenant, client, { claims: JSON.stringify(claims) })
  const page = await new PageBrowser(origin).open(path)
  if (page.response.status !== 200) throw new Error(`${page.response.status} ${await page.response.text()}`)
}
