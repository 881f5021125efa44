import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { dbFor, sql } from '../../src/database/db.ts'

/** The tables with a column tenantId. */
export async function listTenantTables(): Promise<string[]> {
  const rows = await sql<{ name: string }>(
    `SELECT table_name AS "name" FROM information_schema.columns
     WHERE quote_ident(column_name) = '"tenantId"' AND table_schema = current_schema() AND $1 <> '' ORDER BY 1`,
    ['all'],
  )
  return rows.map(({ name }) => name)
}

/** The tables in which the tenant has rows. */
export async function findTablesWithRows(tables: string[], tenant: string): Promise<string[]> {
  const counts = await Promise.all(
    tables.map((table) =>
      sql<{ n: number }>(`SELECT count(*)::int AS n FROM "${table}" WHERE "tenantId" = $1`, [tenant]),
    ),
  )
  return tables.filter((_, index) => (counts[index]?.[0]?.n ?? 0) > 0)
}

/** Stores a row of the tenant in each table: the test fails when a deletion omits a table. */
export async function fillTenantTables(tenantId: string): Promise<void> {
  const db = dbFor(tenantId)
  const { client } = await createClient(createPlatformCtx(tenantId), {
    name: 'App',
    appType: 'web',
    type: 'login',
  })
  const [clientId, userId, sessionId, expiresAt, authenticatedAt] = [
    client.id,
    'u',
    's',
    new Date(),
    new Date(),
  ]
  const hash = Buffer.from('hash')
  await db.user.create({ data: { tenantId, id: userId } })
  await db.session.create({
    data: { tenantId, id: sessionId, userId, clientId, kind: 'browser', tokenHash: hash, expiresAt },
  })
  await db.credential.create({ data: { tenantId, id: 'c', userId, externalId: 'c' } })
  await db.enrollmentToken.create({ data: { tenantId, tokenHash: hash, userId, expiresAt } })
  await db.passcode.create({
    data: { tenantId, address: 'a@b.example', channel: 'email', expiresAt, sentAt: expiresAt },
  })
  await db.identityProvider.create({ data: { tenantId, id: 'idp', type: 'oidc', name: 'Provider' } })
  await db.idpUser.create({ data: { tenantId, id: 'l', userId, idpId: 'idp', externalId: 'x' } })
  await db.idpUserToken.create({ data: { tenantId, linkId: 'l', idpId: 'idp', accessToken: 'sealed' } })
  await db.interaction.create({
    data: { tenantId, handleHash: hash, browserHash: hash, clientId, request: {}, expiresAt },
  })
  await db.grant.create({
    data: {
      tenantId,
      id: 'g',
      clientId,
      userId,
      scopes: [],
      authenticatedAt,
      idleExpiresAt: expiresAt,
      expiresAt,
    },
  })
  await db.consent.create({ data: { tenantId, userId, clientId, scopes: [] } })
  await db.pushedRequest.create({
    data: { tenantId, requestHash: hash, clientId, parameters: {}, expiresAt },
  })
  await db.deviceCode.create({
    data: { tenantId, codeHash: hash, userCodeHash: hash, clientId, scopes: [], grantId: 'g', expiresAt },
  })
  await db.usedProof.create({ data: { tenantId, proofHash: hash, expiresAt } })
  await db.sessionClient.create({ data: { tenantId, sessionId, clientId } })
  await db.logoutDelivery.create({ data: { tenantId, id: 'd', clientId, userId, sessionId, expiresAt } })
  await db.providerSession.create({
    data: { tenantId, sessionId, idpId: 'idp', issuer: 'https://idp.example', subject: 'x' },
  })
  await db.invitation.create({
    data: {
      tenantId,
      id: 'i',
      email: 'a@b.example',
      emailKey: 'a@b.example',
      userId,
      sentAt: expiresAt,
      expiresAt,
    },
  })
  await db.registrationToken.create({ data: { tenantId, id: 't', tokenHash: hash, expiresAt } })
  await db.idempotencyKey.create({ data: { tenantId, keyHash: hash, requestHash: hash, expiresAt } })
  await db.userTerm.create({ data: { tenantId, userId, term: 'w:ada' } })
  await db.knownDevice.create({
    data: { tenantId, address: 'a@b.example', deviceId: 'd', userId, provenAt: expiresAt },
  })
  await db.secondFactorGuess.create({ data: { tenantId, userId, windowAt: new Date() } })
  const now = new Date()
  await db.accountDeletion.create({
    data: { tenantId, userId, requestedAt: now, dueAt: new Date(now.getTime() + 86_400_000) },
  })
  await db.addressChange.create({
    data: {
      tenantId,
      userId,
      channel: 'email',
      address: 'a@b.example',
      shown: 'a@b.example',
      expiresAt,
      sentAt: expiresAt,
    },
  })
}
