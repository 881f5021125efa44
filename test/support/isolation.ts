import {
  type GraphQLArgument,
  type GraphQLInputType,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql'
import { createApiKey } from '../../src/api-keys/api-keys.ts'
import { bulkUpdateUsers } from '../../src/bulk/bulk-jobs.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { SCOPE_NAMES, type Scope, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { Handle } from '../../src/database/handle.ts'
import { Prisma } from '../../src/generated/prisma/client.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganizationDomain } from '../../src/organizations/organization-domains.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createApi } from '../../src/permissions/apis.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { createGroup } from '../../src/permissions/groups.ts'
import { createRegistrationToken } from '../../src/registration/registration-tokens.ts'
import { endSession, startSession } from '../../src/sessions/sessions.ts'
import { createManagementRole } from '../../src/users/management-roles.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { testWebhook } from '../../src/webhooks/deliveries.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { ctxFor, newTenant, ownTokenFor, TENANT_SCOPES, tokenFor } from './actors.ts'
import type { GraphqlBody } from './app.ts'
import { registerDocument } from './clients.ts'
import { dbFor, sql } from './database.ts'
import { logOf } from './events.ts'
import { test as base } from './fixtures.ts'
import type { RootField, RootKind } from './schema.ts'
import { addSignalStream } from './signal-streams.ts'
import { openEventStream } from './streams.ts'

/** How long a subscription may stay silent before it counts as started. */
const SILENCE_MS = 200

/** The ids and secrets of a tenant that has one object of each type with an id. */
export type PopulatedTenant = {
  tenant: string
  token: string
  userId: string
  sessionId: string
  sessionToken: string
  clientId: string
  credentialId: string
  idpId: string
  idpUserId: string
  registrationTokenId: string
  invitationId: string
  organizationId: string
  membershipId: string
  organizationDomainId: string
  apiKeyId: string
  bulkJobId: string
  trustedDocumentId: string
  apiId: string
  appRoleId: string
  managementRoleId: string
  groupId: string
  webhookId: string
  webhookDeliveryId: string
  signalStreamId: string
  email: string
  phoneNumber: string
}

/** The ids that a request names. */
export type Ids = Pick<
  PopulatedTenant,
  | 'userId'
  | 'sessionId'
  | 'clientId'
  | 'credentialId'
  | 'idpId'
  | 'registrationTokenId'
  | 'invitationId'
  | 'organizationId'
  | 'membershipId'
  | 'organizationDomainId'
  | 'apiKeyId'
  | 'bulkJobId'
  | 'trustedDocumentId'
  | 'apiId'
  | 'appRoleId'
  | 'managementRoleId'
  | 'groupId'
  | 'webhookId'
  | 'webhookDeliveryId'
  | 'signalStreamId'
> &
  Partial<PopulatedTenant>

/** Ids that no tenant has. */
export const UNKNOWN_IDS: Ids = {
  userId: 'user_01m7xeb1sbendby702xerkqv3p',
  sessionId: 'session_01m7xeb1sbendby702xerkqv3p',
  clientId: 'client_01m7xeb1sbendby702xerkqv3p',
  credentialId: 'cred_01m7xeb1sbendby702xerkqv3p',
  idpId: 'nobody',
  registrationTokenId: 'regtoken_01m7xeb1sbendby702xerkqv3p',
  invitationId: 'invitation_01m7xeb1sbendby702xerkqv3p',
  organizationId: 'organization_01m7xeb1sbendby702xerkqv3p',
  membershipId: 'membership_01m7xeb1sbendby702xerkqv3p',
  organizationDomainId: 'orgdomain_01m7xeb1sbendby702xerkqv3p',
  apiKeyId: 'apikey_01m7xeb1sbendby702xerkqv3p',
  bulkJobId: 'bulkjob_01m7xeb1sbendby702xerkqv3p',
  trustedDocumentId: 'trusteddoc_01m7xeb1sbendby702xerkqv3p',
  apiId: 'api_01m7xeb1sbendby702xerkqv3p',
  appRoleId: 'role_01m7xeb1sbendby702xerkqv3p',
  managementRoleId: 'mgmtrole_01m7xeb1sbendby702xerkqv3p',
  groupId: 'group_01m7xeb1sbendby702xerkqv3p',
  webhookId: 'webhook_01m7xeb1sbendby702xerkqv3p',
  webhookDeliveryId: 'delivery_01m7xeb1sbendby702xerkqv3p',
  signalStreamId: 'stream_01m7xeb1sbendby702xerkqv3p',
}

async function startApiSession(tenant: string, userId: string) {
  return new Handle({ tenant }).transaction(async (tx) =>
    startSession(tx, await ctxFor(tenant), {
      userId,
      kind: 'api',
      expiresAt: new Date(Date.now() + 3_600_000),
      refreshable: true,
      proof: { method: 'passcode', amr: ['otp'] },
    }),
  )
}

async function createCredential(tenant: string, userId: string): Promise<string> {
  const id = newId('cred')
  await dbFor(tenant).credential.create({ data: { tenantId: tenant, id, userId, externalId: id } })
  return id
}

let populated = 0
async function populateTenant(tenant: string): Promise<PopulatedTenant> {
  populated += 1
  const ctx = await ctxFor(tenant)
  const email = `ada@${tenant}.example`
  const phoneNumber = `+41791122${String(populated).padStart(3, '0')}`
  const user = await createUser(ctx, { email, emailVerified: true, phoneNumber, phoneNumberVerified: true })
  const { client } = await createClient(createPlatformCtx(tenant), {
    name: 'App',
    appType: 'web',
    type: 'login',
    scopes: ['account'],
  })
  const { session, token: sessionToken } = await startApiSession(tenant, user.id)
  await dbFor(tenant).consent.create({
    data: { tenantId: tenant, userId: user.id, clientId: client.id, scopes: ['openid'] },
  })
  const idpId = `up-${populated}`
  await createIdentityProvider(ctx, { id: idpId, type: 'google', name: 'Upstream' })
  const { id: idpUserId } = await addIdpUser(ctx, user.id, idpId, { externalId: 'ada' })
  const { registrationToken } = await createRegistrationToken(ctx, { note: 'Partner' })
  const invitation = await createInvitation(ctx, { email: `guest@${tenant}.example` })
  const organization = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
  const membership = await createMembership(ctx, organization.id, { userId: user.id })
  const domain = await createOrganizationDomain(ctx, organization.id, { domain: `${tenant}.example` })
  const { apiKey } = await createApiKey(ctx, { name: 'Export', scopes: ['users:read'] })
  const bulkJob = await bulkUpdateUsers(ctx, { action: 'unlock', userIds: [user.id] })
  const trustedDocumentId = await registerDocument(tenant, client.id)
  const api = await createApi(ctx, { identifier: `https://${tenant}.example`, name: 'API' })
  const appRole = await createAppRole(ctx, { name: 'clerk', assignableTo: ['user', 'client'] })
  const { webhook } = await createWebhook(ctx, { url: 'https://hooks.example/vestibule' })
  const message = await testWebhook(ctx, webhook.id, {})
  return {
    tenant,
    token: await tokenFor(tenant),
    webhookId: webhook.id,
    webhookDeliveryId: message.id,
    signalStreamId: await addSignalStream(ctx, client.id),
    apiId: api.id,
    appRoleId: appRole.id,
    managementRoleId: (await createManagementRole(ctx, { name: 'helper', scopes: ['users:read'] })).id,
    groupId: (await createGroup(ctx, { name: 'Desk' })).id,
    trustedDocumentId,
    registrationTokenId: registrationToken.id,
    invitationId: invitation.id,
    organizationId: organization.id,
    membershipId: membership.id,
    organizationDomainId: domain.id,
    apiKeyId: apiKey.id,
    bulkJobId: bulkJob.id,
    credentialId: await createCredential(tenant, user.id),
    idpId,
    idpUserId,
    userId: user.id,
    sessionId: session.id,
    sessionToken,
    clientId: client.id,
    email,
    phoneNumber,
  }
}

/** Creates a user with a session and a credential; returns the ids. */
export async function createOtherUser(tenant: string) {
  const { id: userId } = await createUser(await ctxFor(tenant), {})
  const { session } = await startApiSession(tenant, userId)
  return { userId, sessionId: session.id, credentialId: await createCredential(tenant, userId) }
}

/** The token of a new administrator with every scope, who has a session. */
async function createAdministrator(tenant: string) {
  const { userId, sessionId } = await createOtherUser(tenant)
  await setUserRoles(createPlatformCtx(tenant), userId, { roles: ['admin'] })
  const { client } = await createClient(createPlatformCtx(tenant), {
    name: 'Console',
    appType: 'single-page',
    type: 'login',
    scopes: [...TENANT_SCOPES, 'account'],
  })
  const token = await issueAccessToken(tenant, {
    subject: userId,
    clientId: client.id,
    scopes: [...TENANT_SCOPES, 'account'],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
    sessionId,
  })
  return { userId, sessionId, token }
}

/** One hash per table, of the rows of a tenant. */
const HASHES = Object.keys(Prisma.ModelName)
  .map(
    (
      table,
    ) => `SELECT '${table}' AS "table", md5(COALESCE(string_agg(t::text, '|' ORDER BY t::text), '')) AS "hash"
      FROM "${table}" t WHERE "tenantId" = $1`,
  )
  .join(' UNION ALL ')

/** Hashes the rows of a tenant by table. Equal hashes mean that nothing was written. */
export async function hashTables(tenant: string): Promise<Record<string, string>> {
  const rows = await sql<{ table: string; hash: string }>(HASHES, [tenant])
  return Object.fromEntries(rows.map(({ table, hash }) => [table, hash]))
}

/** Every scope of a tenant except these. */
export const scopesWithout = (scopes: readonly Scope[]): Scope[] =>
  TENANT_SCOPES.filter((scope) => !scopes.includes(scope))

/** A literal of the input type that names `ids` wherever it names an object. */
function toLiteral(name: string, type: GraphQLInputType, ids: Ids, slug: string): string {
  if (isNonNullType(type)) return toLiteral(name, type.ofType, ids, slug)
  if (isListType(type)) return `[${toLiteral(name, type.ofType, ids, slug)}]`
  if (isInputObjectType(type))
    return `{ ${Object.values(type.getFields())
      .filter((field) => isNonNullType(field.type) || /Id$|^idToken$/.test(field.name))
      .map((field) => `${field.name}: ${toLiteral(field.name, field.type, ids, slug)}`)
      .join(', ')} }`
  if (isEnumType(type)) return type.getValues()[0]?.name ?? ''
  if (name === 'id' || name === 'ids') return JSON.stringify(ids.userId)
  if (name === 'to' || name === 'email') return JSON.stringify(ids.email ?? 'nobody@nowhere.example')
  if (name === 'phoneNumber') return JSON.stringify(ids.phoneNumber ?? '+41791112299')
  if (name === 'slug') return JSON.stringify(slug)
  const known = (ids as Record<string, unknown>)[name]
  if (known !== undefined) return JSON.stringify(known)
  return { Int: '1', Boolean: 'true', JSONObject: '{}' }[type.name] ?? '"000000"'
}

/**
 * An operation with this one root field. Its arguments name `ids`; an argument `slug` names tenant `slug`.
 */
export function toDocument(kind: RootKind, field: RootField, ids: Ids, slug: string): string {
  const isWanted = ({ name, type }: GraphQLArgument) => isNonNullType(type) || /Id$|^id$/.test(name)
  const args = field.args.filter(isWanted).map(({ name, type }) => {
    const object = field.name === 'identityProvider' ? 'idp' : field.name
    const nodeId = (ids as Record<string, unknown>)[`${object}Id`] ?? ids.userId
    return `${name}: ${name === 'id' ? JSON.stringify(nodeId) : toLiteral(name, type, ids, slug)}`
  })
  const selection = isCompositeType(getNamedType(field.type)) ? ' { __typename }' : ''
  return `${kind} { result: ${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${selection} }`
}

/** The first result of an operation; `open` for a subscription without an event, 401 for a rejected token. */
export type FirstResult = GraphqlBody | 'open' | 401

export const toCode = (result: FirstResult): unknown =>
  typeof result === 'object' ? result.errors?.[0]?.extensions.code : result

/** `test` with two populated tenants, and tokens that must not give access to the first one. */
export const test = base
  /** The tenant that is called; its token has every scope. */
  .extend('own', { scope: 'file' }, ({ tenant }) => populateTenant(tenant))
  .extend('foreign', { scope: 'file' }, async ({ own: _own }) => populateTenant(await newTenant()))
  /** The token of an operator for all tenants, with the audience of the foreign tenant. */
  .extend('narrowedToken', { scope: 'file' }, async ({ foreign }) => {
    const { client } = await createClient(createPlatformCtx(SYSTEM_TENANT), {
      name: 'Operator',
      appType: 'machine',
      type: 'login',
      scopes: SCOPE_NAMES,
      allTenants: true,
    })
    return issueAccessToken(SYSTEM_TENANT, {
      subject: client.id,
      clientId: client.id,
      scopes: SCOPE_NAMES,
      audience: [apiAudienceOf(foreign.tenant)],
      lifetimeSeconds: 600,
    })
  })
  /** The token of a user without a role. It claims every scope. */
  .extend('userToken', { scope: 'file' }, ({ own }) =>
    issueAccessToken(own.tenant, {
      subject: own.userId,
      clientId: own.clientId,
      scopes: SCOPE_NAMES,
      audience: [apiAudienceOf(own.tenant)],
      lifetimeSeconds: 600,
      sessionId: own.sessionId,
    }),
  )
  /** The token of the same user for the own account. */
  .extend('accountToken', { scope: 'file' }, ({ own }) => ownTokenFor(own.tenant, own.userId, own.clientId))
  /**
   * Tokens of administrators: one is locked, the session of the other has ended. Both tokens worked before.
   */
  .extend('revokedTokens', { scope: 'file' }, async ({ app, own: { tenant } }) => {
    const [locked, ended] = [await createAdministrator(tenant), await createAdministrator(tenant)]
    for (const { token, userId } of [locked, ended]) {
      const { status } = await app.rest(tenant, token, 'GET', `/users/${userId}`)
      if (status !== 200) throw new Error(`the token of an administrator was answered ${status}`)
    }
    await lockUser(createPlatformCtx(tenant), locked.userId)
    await endSession(createPlatformCtx(tenant), ended.sessionId, 'logout')
    return [locked.token, ended.token]
  })
  /** Runs one root field at the own tenant with `token`; its arguments name `ids`. */
  .extend(
    'run',
    { scope: 'file' },
    ({ app, own, foreign }) =>
      async (
        token: string | null,
        [, kind, field]: readonly [string, RootKind, RootField],
        ids: Ids = own,
      ): Promise<FirstResult> => {
        const document = toDocument(kind, field, ids, foreign.tenant)
        if (kind !== 'subscription' || token === null) {
          const { status, body } = await app.gql(own.tenant, token, document)
          return status === 401 && kind !== 'subscription' ? 401 : body
        }
        // An open transaction of another test hides earlier events, which would arrive on the stream.
        await logOf(own.tenant)
        const stream = await openEventStream(`${app.origin}/${own.tenant}/graphql`, token, document)
        if (stream.status === 401) return 401
        const silence = new Promise<'open'>((resolve) => setTimeout(resolve, SILENCE_MS, 'open'))
        const first = await Promise.race([stream.next(), silence])
        stream.close()
        return first === 'open' ? 'open' : (first?.data ?? 'open')
      },
  )
