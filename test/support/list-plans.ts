import pg from 'pg'
import { test as base } from 'vitest'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { closeRuntime, openRuntime } from '../../src/server/runtime.ts'
import { newTenant } from './actors.ts'
import { closers } from './environment.ts'
import { BATCH, fillTenant } from './plans.ts'

/** Rows of the large tenant; ten other tenants have a tenth of them each. */
export const CLIENTS = 6_000
const ORGANIZATIONS = 2_000
export const EVENTS = 16_000
export const SESSIONS = 16_000
/** The sessions belong to these users, a few to each. */
const SESSION_USERS = 2000

const FILL_CLIENTS = `
  INSERT INTO "Client" ("tenantId", "id", "name", "appType", "type")
  SELECT $1, 'client_01m7xeb1sbendby702' || lpad(n::text, 8, '0'), 'App ' || n,
    (ARRAY['single-page', 'web', 'native', 'machine'])[1 + n % 4], CASE WHEN n % 50 = 0 THEN 'payment' ELSE 'login' END
  FROM generate_series($3::int + 1, $3::int + LEAST(${BATCH}, $2::int)) n`

const FILL_ORGANIZATIONS = `
  INSERT INTO "Organization" ("tenantId", "id", "slug", "name", "externalId")
  SELECT $1, 'organization_01m7xeb1sbendby702' || lpad(n::text, 8, '0'), 'slug-' || n, (ARRAY['Acme', 'Globex'])[1 + n % 2] || ' ' || n, 'crm-' || n
  FROM generate_series($3::int + 1, LEAST($3::int + ${BATCH}, $2::int)) n`

/** One event every ten seconds, in an earlier era: no open transaction hides it. */
const FILL_EVENTS = `
  INSERT INTO "Event" ("tenantId", "id", "era", "xid", "seq", "type", "occurredAt", "userId", "sessionId", "actorUserId", "actorClientId", "subjectIds", "requestId", "addressHash", "deviceId", "ip")
  SELECT $1, $1 || n, 0, n, n, CASE WHEN n % 2000 = 0 THEN 'key.rotated' WHEN n % 5 = 0 THEN 'user.updated' ELSE 'grant.refreshed' END,
    now() - ($2 - n + n % 3) * interval '10 seconds',
    'user_01m7xeb1sbendby702xer' || lpad((n % 1000)::text, 5, '0'),
    CASE WHEN n % 3 = 0 THEN 'session_01m7xeb1sbendby702xer' || lpad((n % 3000)::text, 5, '0') END,
    CASE WHEN n % 20 = 0 THEN 'user_01m7xeb1sbendby702xer0000' || (n / 20 % 5) END,
    'client_01m7xeb1sbendby702xer0000' || (n % 3),
    CASE WHEN n % 4 = 0 THEN ARRAY['cred_01m7xeb1sbendby702xer' || lpad((n % 2000)::text, 5, '0')] ELSE '{}' END,
    'request-' || (n % 2000), CASE WHEN n % 10 = 0 THEN sha256((n % 500)::text::bytea) END,
    CASE WHEN n % 7 = 0 THEN 'device-' || (n % 500) END,
    CASE WHEN n % 3 = 0 THEN NULL WHEN n % 2 = 0 THEN '198.51.100.7' ELSE '203.0.' || (n / 256 % 256) || '.' || (n % 256) END
  FROM generate_series($3::int + 1, $3::int + ${BATCH}) n`

const FILL_USERS = `
  INSERT INTO "User" ("tenantId", "id") SELECT $1, 'user_01m7xeb1sbendby702xer' || lpad(n::text, 5, '0')
  FROM generate_series($3::int, LEAST($3::int + ${BATCH}, $2::int) - 1) n`
const FILL_SESSION_CLIENTS = `
  INSERT INTO "Client" ("tenantId", "id", "name", "appType", "type")
  SELECT $1, 'client_01m7xeb1sbendby702xerkqv3' || n, 'App', 'web', 'login' FROM generate_series(1, 2) n`

const FILL_SESSIONS = `
  INSERT INTO "Session" ("tenantId", "id", "userId", "clientId", "kind", "tokenHash", "lastSeenIp", "lastSeenAt", "expiresAt", "endedAt", "createdAt")
  SELECT $1, 'session_01m7xeb1sbendby702' || lpad(n::text, 8, '0'), 'user_01m7xeb1sbendby702xer' || lpad((n % ${SESSION_USERS})::text, 5, '0'),
    CASE WHEN n % 3 > 0 THEN 'client_01m7xeb1sbendby702xerkqv3' || (n % 3) END, 'browser', sha256(($1 || n)::bytea),
    CASE WHEN n % 4 = 0 THEN '203.0.113.7' ELSE '2001:db8::' || to_hex(n % 5000) END,
    now() - (n * 37 % $2) * interval '1 minute', now() + interval '1 day', CASE WHEN n % 10 = 0 THEN now() END,
    now() - (n * 91 % $2) * interval '1 minute'
  FROM generate_series($3::int + 1, $3::int + ${BATCH}) n`

/** One of two hundred sessions has tokens for the first of two organizations, whose members are all users. */
const FILL_SESSION_ORGANIZATIONS = `
  INSERT INTO "Organization" ("tenantId", "id", "slug", "name")
  SELECT $1, 'organization_01m7xeb1sbendby702xerkqv3' || n, 'slug-' || n, 'Acme' FROM generate_series(1, 2) n`
const FILL_SESSION_MEMBERS = `
  WITH members AS (
    INSERT INTO "Membership" ("tenantId", "id", "organizationId", "userId", "joinedVia")
    SELECT $1, 'm' || u."id", 'organization_01m7xeb1sbendby702xerkqv31', u."id", 'import' FROM "User" u WHERE u."tenantId" = $1
  )
  INSERT INTO "SessionOrganization" ("tenantId", "organizationId", "sessionId")
  SELECT $1, 'organization_01m7xeb1sbendby702xerkqv3' || (CASE WHEN n % 200 = 1 THEN 1 ELSE 2 END), "id"
  FROM (SELECT "id", row_number() OVER (ORDER BY "id") AS n FROM "Session" WHERE "tenantId" = $1) s`

/** Fills a large tenant and ten small ones; returns the context of the large one. */
async function fillTenants(
  admin: pg.Client,
  table: string,
  rows: number,
  fill: (tenant: string, rows: number) => Promise<void>,
): Promise<Ctx> {
  const tenant = await newTenant()
  await fill(tenant, rows)
  for (let others = 0; others < 10; others += 1) await fill(await newTenant(), rows / 10)
  await admin.query(`ANALYZE "${table}"`)
  return createPlatformCtx(tenant)
}

/**
 * `test` with large tenants on a database of its own, and a connection for EXPLAIN. The program itself does
 * not run.
 */
export const test = base
  .extend('admin', { scope: 'file' }, async () => {
    await openRuntime()
    const options = '-c timezone=UTC -c jit=off'
    const admin = new pg.Client({ connectionString: process.env.DATABASE_URL, options })
    await admin.connect()
    closers.push(closeRuntime, () => admin.end())
    return admin
  })
  .extend('clients', { scope: 'file' }, ({ admin }) =>
    fillTenants(admin, 'Client', CLIENTS, (tenant, rows) => fillTenant(admin, FILL_CLIENTS, tenant, rows)),
  )
  .extend('organizations', { scope: 'file' }, async ({ admin }) => {
    const ctx = await fillTenants(admin, 'Organization', ORGANIZATIONS, (tenant, rows) =>
      fillTenant(admin, FILL_ORGANIZATIONS, tenant, rows),
    )
    await admin.query('ANALYZE "OrganizationTerm"')
    return ctx
  })
  .extend('events', { scope: 'file' }, ({ admin }) =>
    fillTenants(admin, 'Event', EVENTS, (tenant, rows) => fillTenant(admin, FILL_EVENTS, tenant, rows)),
  )
  .extend('sessions', { scope: 'file' }, async ({ admin }) => {
    const ctx = await fillTenants(admin, 'Session', SESSIONS, async (tenant, rows) => {
      await admin.query(FILL_SESSION_CLIENTS, [tenant])
      await fillTenant(admin, FILL_USERS, tenant, SESSION_USERS)
      await fillTenant(admin, FILL_SESSIONS, tenant, rows)
      for (const fill of [FILL_SESSION_ORGANIZATIONS, FILL_SESSION_MEMBERS]) await admin.query(fill, [tenant])
    })
    await admin.query('ANALYZE "SessionOrganization", "Membership"')
    return ctx
  })
