import pg from 'pg'
import { describe, expect, vi } from 'vitest'
import { ENTRY_POINTS, signInUser } from '../support/entry-points.ts'
import { closers } from '../support/environment.ts'
import { test as base } from '../support/fixtures.ts'
import { captureStatements, explain, type Plan, type Statement } from '../support/plans.ts'

// The fixtures fill the tables.
vi.setConfig({ testTimeout: 180_000 })

/** Rows of one user and one client. */
const ROWS = 20_000
/** Tables whose rows belong to a user or a client, who may have very many. */
const TABLES = ['User', 'Session', 'Grant', 'Consent', 'SessionClient']
/** What the condition of an index finds: one row, or the few rows of one session, grant, or user and client. */
const KEYS = [
  /\b"?(id|tokenHash|previousTokenHash|sessionId|grantId|parentId)"? = /,
  /"userId" = .*"clientId" = |"clientId" = .*"userId" = /,
]

const FILL = [
  `INSERT INTO "User" ("tenantId", "id", "updatedAt") SELECT $1, 'user_' || lpad(n::text, 26, '0'), now()
   FROM generate_series(1, ${ROWS}) n WHERE $2 <> $3`,
  `INSERT INTO "Session" ("tenantId", "id", "userId", "clientId", "kind", "tokenHash", "lastSeenAt", "expiresAt")
   SELECT $1, 'session_' || lpad(n::text, 26, '0'), $2, $3, 'browser', sha256(n::text::bytea), now(), now() + interval '1 day'
   FROM generate_series(1, ${ROWS}) n`,
  `INSERT INTO "Grant" ("tenantId", "id", "userId", "clientId", "scopes", "offline", "secretHash", "authenticatedAt",
     "idleExpiresAt", "expiresAt")
   SELECT $1, 'grant_' || lpad(n::text, 26, '0'), $2, $3, '{openid}', true, sha256(n::text::bytea), now(),
     now() + interval '1 day', now() + interval '1 day'
   FROM generate_series(1, ${ROWS}) n`,
]

/** The entry points of the protocol, and a session token. The lists of REST have plans of their own. */
const CALLS = Object.entries(ENTRY_POINTS).filter(([name]) => !/REST|GraphQL/.test(name))

const test = base
  .extend('admin', { scope: 'file' }, async ({ app: _ }) => {
    const options = '-c timezone=UTC -c jit=off'
    const admin = new pg.Client({ connectionString: process.env.DATABASE_URL, options })
    await admin.connect()
    closers.push(() => admin.end())
    for (const table of TABLES) await admin.query(`ALTER TABLE "${table}" SET (autovacuum_enabled = false)`)
    return admin
  })
  /** The statements of the entry points, by name, for a user and a client with very many sessions and grants. */
  .extend('sent', { scope: 'file' }, async ({ app, admin }) => {
    const signedIn = await signInUser(app)
    for (const fill of FILL) await admin.query(fill, [signedIn.tenant, signedIn.user.id, signedIn.client.id])
    // On a busy machine, the first code has expired by now.
    const user = { ...signedIn, pendingCode: await signedIn.issueCode() }
    const sent: [name: string, statements: Statement[]][] = []
    for (const [name, call] of CALLS) {
      let isOpen = false
      const statements = await captureStatements(async () => {
        isOpen = await call(app, user)
      })
      expect([name, isOpen]).toEqual([name, true])
      sent.push([name, statements])
    }
    return sent
  })

/** The scans of a plan that do not find rows by a key. */
const listOtherScans = ({ sequential, nodes }: Plan): string[] => [
  ...sequential.filter((table) => TABLES.includes(table)),
  ...nodes.flatMap(({ 'Index Name': index, 'Index Cond': condition = '' }) =>
    index !== undefined &&
    TABLES.includes(index.split('_')[0] ?? '') &&
    !KEYS.some((key) => key.test(condition))
      ? `${index}: ${condition}`
      : [],
  ),
]

async function explainAll(admin: pg.Client, sent: readonly (readonly [string, Statement[]])[]) {
  const found: string[] = []
  let explained = 0
  for (const [name, statements] of sent)
    for (const statement of statements.filter(({ text }) => /"(User|Session|Grant)"/.test(text))) {
      for (const plan of await explain(admin, statement, { isExecuted: false })) {
        explained += 1
        found.push(...listOtherScans(plan).map((scan) => `${name}: ${scan} (${plan.kind})`))
      }
    }
  return { found, explained }
}

describe.skipIf(!process.env.DATABASE_URL)('the statements of tokens and sessions', () => {
  test('find rows by their keys in tables that were never analyzed', async ({ admin, sent }) => {
    const { found, explained } = await explainAll(admin, sent)
    expect(explained).toBeGreaterThan(20)
    expect(found).toEqual([])
  })

  test('find rows by their keys in tables whose statistics know other tenants only', async ({
    admin,
    sent,
  }) => {
    // As before the user and the client had many rows.
    await admin.query('CREATE TEMP TABLE many AS SELECT * FROM "Session" WHERE "id" ~ \'^session_0{6}\'')
    await admin.query('DELETE FROM "Session" WHERE "id" ~ \'^session_0{6}\'')
    await admin.query('ANALYZE "User", "Session", "Grant"')
    await admin.query('INSERT INTO "Session" SELECT * FROM many')
    expect((await explainAll(admin, sent)).found).toEqual([])
  })
})
