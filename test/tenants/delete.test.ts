import { describe, expect } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { createTenant } from '../../src/invitations/create-tenant.ts'
import { deleteTenant, getTenant } from '../../src/tenants/tenants.ts'
import { newTenant } from '../support/actors.ts'
import { dbFor, sql } from '../support/database.ts'
import { toTypes } from '../support/events.ts'
import { listTenantTables } from '../support/tenant-rows.ts'
import { test } from '../support/tenants.ts'

/** The tables in which the tenant has rows. */
async function findTablesWithRows(tables: string[], tenant: string): Promise<string[]> {
  const counts = await Promise.all(
    tables.map((table) =>
      sql<{ n: number }>(`SELECT count(*)::int AS n FROM "${table}" WHERE "tenantId" = $1`, [tenant]),
    ),
  )
  return tables.filter((_, index) => (counts[index]?.[0]?.n ?? 0) > 0)
}

/** Stores a row of the tenant in each table: the test fails when a deletion omits a table. */
async function fillTenantTables(tenantId: string): Promise<void> {
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
  await db.scimUser.create({ data: { tenantId, ownerId: '', userId, userName: 'u', userNameKey: 'u' } })
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
  await db.organization.create({ data: { tenantId, id: 'o', slug: 'o', name: 'Acme' } })
  await db.membership.create({
    data: { tenantId, id: 'm', organizationId: 'o', userId, joinedVia: 'import' },
  })
  await db.organizationDomain.create({
    data: { tenantId, id: 'd', organizationId: 'o', domain: 'a.example', recordValue: 'x' },
  })
  await db.sessionOrganization.create({ data: { tenantId, organizationId: 'o', sessionId } })
  await db.organizationSetup.create({
    data: { tenantId, organizationId: 'o', tokenHash: hash, expiresAt },
  })
  await db.apiKey.create({ data: { tenantId, id: 'k', name: 'x', userId, start: 'x', expiresAt } })
  await db.apiKeySecret.create({ data: { tenantId, secretHash: hash, apiKeyId: 'k' } })
  await db.webhook.create({
    data: { tenantId, id: 'w', url: 'https://a.example', secret: 'x', position: 'x' },
  })
  await db.webhookDelivery.create({
    data: {
      tenantId,
      id: 'd',
      webhookId: 'w',
      messageId: 'm',
      type: 't',
      subject: '',
      body: '{}',
      expiresAt,
    },
  })
  const ofStream = { tenantId, streamId: 's' }
  await db.signalStream.create({ data: { tenantId, id: 's', clientId, delivery: 'poll', position: 'x' } })
  await db.signalToken.create({
    data: { ...ofStream, id: 't', type: 't', subject: '', body: '{}', expiresAt },
  })
  await db.signalSubject.create({ data: { ...ofStream, userId, included: true } })
  await db.formerAddress.create({
    data: { tenantId, userId, xid: 1n, kind: 'email', former: 'x', expiresAt },
  })
  await db.registrationToken.create({ data: { tenantId, id: 't', tokenHash: hash, expiresAt } })
  await db.idempotencyKey.create({ data: { tenantId, keyHash: hash, requestHash: hash, expiresAt } })
  await db.userTerm.create({ data: { tenantId, userId, term: 'w:ada' } })
  await db.knownDevice.create({
    data: { tenantId, address: 'a@b.example', deviceId: 'd', userId, provenAt: expiresAt },
  })
  await db.dailyCount.create({
    data: { tenantId, day: new Date(), kind: 'new-user', method: '', count: 1 },
  })
  await db.uncountedEvent.create({ data: { tenantId, day: new Date(), kind: 'new-user', method: '' } })
  await db.bulkJob.create({
    data: { tenantId, id: 'j', action: 'lock', caller: {}, status: 'pending', total: 1 },
  })
  await db.bulkJobUser.create({ data: { tenantId, jobId: 'j', userId } })
  await db.trustedDocument.create({
    data: {
      tenantId,
      id: 'd',
      clientId,
      documentId: 'd',
      digest: 'd',
      text: '{ viewer { scopes } }',
      bytes: 21,
    },
  })
  await db.api.create({ data: { tenantId, id: 'a', identifier: 'https://a.example', name: 'A' } })
  await db.apiPermission.create({ data: { tenantId, apiId: 'a', name: 'read' } })
  await db.managementRole.create({ data: { tenantId, id: 'm', name: 'm', scopes: ['users:read'] } })
  await db.appRole.create({ data: { tenantId, id: 'r', name: 'r', assignableTo: ['user', 'client'] } })
  await db.appRolePermission.create({ data: { tenantId, roleId: 'r', apiId: 'a', name: 'read' } })
  await db.userAppRole.create({ data: { tenantId, userId, roleId: 'r' } })
  await db.clientAppRole.create({ data: { tenantId, clientId, roleId: 'r' } })
  await db.membershipAppRole.create({ data: { tenantId, membershipId: 'm', roleId: 'r' } })
  await db.group.create({ data: { tenantId, id: 'g', name: 'g' } })
  await db.groupMember.create({ data: { tenantId, groupId: 'g', userId } })
  await db.groupAppRole.create({ data: { tenantId, groupId: 'g', roleId: 'r' } })
  await db.eventMark.create({ data: { tenantId, era: 1, xid: 1, seq: 1, events: 1 } })
  await db.secondFactorGuess.create({ data: { tenantId, userId, windowAt: new Date() } })
  const now = new Date()
  await db.accountDeletion.create({
    data: { tenantId, userId, requestedAt: now, dueAt: new Date(now.getTime() + 86_400_000) },
  })
  // Other tests delete the old passwords of tenants that do not migrate.
  await db.tenant.update({ where: { tenantId }, data: { migrationEndsAt: new Date('2100-01-01') } })
  await db.oldPassword.create({ data: { tenantId, userId, hash: 'sealed', place: 1 } })
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

describe('deleteTenant', () => {
  test('deletes the rows of the tenant in every table, except its changes, which other processes read', async ({
    events,
    system,
  }) => {
    const [gone, kept] = [await newTenant(), await newTenant()]
    for (const tenant of [gone, kept]) await fillTenantTables(tenant)
    const tables = await listTenantTables()
    expect(tables.length).toBeGreaterThanOrEqual(23)
    expect(await findTablesWithRows(tables, gone)).toEqual(tables)
    await deleteTenant(system, gone)
    expect(await findTablesWithRows(tables, gone)).toEqual(['RowChange'])
    expect(await findTablesWithRows(tables, kept)).toEqual(tables)
    expect(await findTenant(gone)).toBeNull()
    expect((await events({ tenant: SYSTEM_TENANT, subjectId: gone })).at(-1)).toMatchObject({
      type: 'tenant.deleted',
      subjectIds: [gone],
    })
    await expect(getTenant(createPlatformCtx(gone))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('frees the slug for a new tenant with other keys and an empty log', async ({ events, system }) => {
    const tenant = await newTenant()
    const first = await findTenant(tenant)
    await deleteTenant(system, tenant)
    // A request that runs during the deletion can leave an event.
    await sql('INSERT INTO "Event" ("tenantId", "id", "type") VALUES ($1, $2, $3)', [
      tenant,
      'event_late',
      'signin.failed',
    ])
    await createTenant(system, { slug: tenant })
    const second = await findTenant(tenant)
    expect(second?.tokenKey.equals(first?.tokenKey ?? Buffer.alloc(0))).toBe(false)
    expect(toTypes(await events({ tenant }))).toEqual(['tenant.created'])
  })

  test('rejects tenant system, callers of other tenants, and unknown and invalid slugs with the same error', async ({
    ctx,
    system,
  }) => {
    await expect(deleteTenant(system, SYSTEM_TENANT)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    for (const slug of ['never-made', 'No Slug', ''])
      await expect(deleteTenant(system, slug)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'No such tenant.',
      })
    await expect(deleteTenant(ctx, ctx.tenant)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('succeeds for one of five concurrent callers', async ({ system }) => {
    const tenant = await newTenant()
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => deleteTenant(system, tenant)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
