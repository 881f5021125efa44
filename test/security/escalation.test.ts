import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { createManagementRole } from '../../src/users/management-roles.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { callGraphql, callRest } from '../parity/call.ts'
import { createFixture, EMAIL, type Fixture } from '../parity/fixture.ts'
import { OPERATIONS } from '../parity/operations.ts'
import { TENANT_SCOPES, tokenFor } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import { hasServices } from '../support/services.ts'
import { startUpstream } from '../support/upstream.ts'

/** Operations that may end an administrator's access, and what they ask for instead of the user's scopes. */
const OTHER_RULES: Record<string, string> = {
  authenticateSession: 'the session token, which it may rotate or shorten',
  authenticatePasscode: 'the code that the user received',
  deleteClient: 'all scopes of the client; it ends what the client has of every user',
}

const writes = restRoutes.filter(
  ({ operationId, method }) => method !== 'GET' && operationId in OPERATIONS && !(operationId in OTHER_RULES),
)

/** What lets the user sign in or stay signed in. */
const readAccess = ({ tenant, userId }: Fixture) =>
  sql(
    `SELECT "locked", "roles", "emailKey", "emailVerified", "phoneNumberKey", "phoneNumberVerified",
       ARRAY(SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "userId" = u."id" AND "endedAt" IS NULL) AS "sessions",
       ARRAY(SELECT "id" FROM "Grant" WHERE "tenantId" = $1 AND "userId" = u."id" AND "revokedAt" IS NULL) AS "grants",
       ARRAY(SELECT "id" FROM "Credential" WHERE "tenantId" = $1 AND "userId" = u."id") AS "credentials",
       ARRAY(SELECT "id" FROM "IdpUser" WHERE "tenantId" = $1 AND "userId" = u."id") AS "links",
       ARRAY(SELECT "clientId" FROM "Consent" WHERE "tenantId" = $1 AND "userId" = u."id") AS "consents"
     FROM "User" u WHERE "tenantId" = $1 AND "id" = $2`,
    [tenant, userId],
  )

/** With an administrator who has a session, a grant, a passkey, a linked identity and a consent. */
const test = base.extend('admin', { scope: 'file' }, async ({ app: _ }, { onCleanup }) => {
  const upstream = await startUpstream()
  onCleanup(upstream.close)
  const fixture = await createFixture(upstream)
  const { tenant, userId, sessionId, clientId } = fixture
  // A role that the tenant has defined is read in more places than a built-in one, which is a constant.
  const ctx = createPlatformCtx(tenant)
  await createManagementRole(ctx, { name: 'boss', scopes: TENANT_SCOPES })
  await setUserRoles(ctx, userId, { roles: ['boss'] })
  await sql(
    `INSERT INTO "Grant" ("tenantId", "id", "clientId", "userId", "sessionId", "scopes", "offline", "authenticatedAt", "idleExpiresAt", "expiresAt")
     VALUES ($1, $2, $3, $4, $5, '{openid}', true, now(), now() + interval '1 day', now() + interval '1 day')`,
    [tenant, newId('grant'), clientId, userId, sessionId],
  )
  return fixture
})

describe.runIf(hasServices)("an administrator's access", () => {
  test('consists of something that each kind of operation could end', async ({ admin }) => {
    expect(await readAccess(admin)).toEqual([
      {
        locked: false,
        roles: ['boss'],
        emailKey: EMAIL,
        emailVerified: true,
        phoneNumberKey: expect.any(String),
        phoneNumberVerified: true,
        sessions: [admin.sessionId],
        grants: [expect.any(String)],
        credentials: [admin.credentialId],
        links: [expect.any(String)],
        consents: [admin.clientId],
      },
    ])
    expect(writes.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining(['revokeSession', 'revokeUserSessions', 'updateUser', 'unlinkIdpUser']),
    )
  })

  test.for(writes.map(({ operationId, scope }) => ({ operationId, scope })))(
    'does not end by $operationId of a caller with $scope alone',
    async ({ operationId, scope }, { app, admin }) => {
      const before = await readAccess(admin)
      const caller = { ...admin, token: await tokenFor(admin.tenant, [scope]) }
      for (const call of OPERATIONS[operationId] ?? []) {
        await callRest(app, caller, await call.rest(caller))
        await callGraphql(app, caller, await call.gql(caller))
      }
      expect(await readAccess(admin)).toEqual(before)
    },
  )

  test('does not end by an import of a caller with users:write alone', async ({ app, admin }) => {
    const before = await readAccess(admin)
    const token = await tokenFor(admin.tenant, ['users:write'])
    const answer = await fetch(`${app.origin}/${admin.tenant}/api/v1/users/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify({ email: EMAIL, locked: true })}\n`,
    })
    expect(await answer.text()).toContain('"FORBIDDEN"')
    expect(await readAccess(admin)).toEqual(before)
  })
})
