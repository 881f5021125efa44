import { randomBytes } from 'node:crypto'
import { createClient } from '../../src/clients/clients.ts'
import { type Ctx, createCtx, createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import {
  ACCOUNT_SCOPE,
  SCOPE_NAMES,
  type Scope,
  SYSTEM_SCOPES,
  SYSTEM_TENANT,
} from '../../src/core/scopes.ts'
import { createTenant } from '../../src/invitations/create-tenant.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { startBrowserSession } from '../../src/sessions/sessions.ts'
import { ensureTenant } from '../../src/tenants/tenants.ts'

/** Every scope that callers of a tenant can have. */
export const TENANT_SCOPES: Scope[] = SCOPE_NAMES.filter((scope) => !SYSTEM_SCOPES.includes(scope))

/** Creates a tenant and returns its slug. */
export async function newTenant(slug = `t-${randomBytes(4).toString('hex')}`): Promise<string> {
  await ensureTenant(SYSTEM_TENANT)
  await createTenant(createPlatformCtx(SYSTEM_TENANT), { slug })
  return slug
}

const machines = new Map<string, Promise<string>>()
/** The machine client with which tests call the management API of a tenant. */
function ensureMachine(tenant: string): Promise<string> {
  let id = machines.get(tenant)
  if (!id) {
    const scopes = tenant === SYSTEM_TENANT ? SCOPE_NAMES : TENANT_SCOPES
    id = createClient(createPlatformCtx(tenant), {
      name: 'Test backend',
      appType: 'machine',
      type: 'login',
      scopes,
    }).then(({ client }) => client.id)
    machines.set(tenant, id)
  }
  return id
}

/** A management access token of the tenant's machine client. */
export async function tokenFor(
  tenant: string,
  scopes: readonly Scope[] = TENANT_SCOPES,
  lifetimeSeconds = 600,
): Promise<string> {
  const clientId = await ensureMachine(tenant)
  return issueAccessToken(tenant, {
    subject: clientId,
    clientId,
    scopes,
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds,
  })
}

/** The context that such a token leads to, for calls of services without a transport. */
export async function ctxFor(tenant: string, scopes: readonly Scope[] = TENANT_SCOPES): Promise<Ctx> {
  return createCtx({
    tenant,
    actor: { kind: 'client', tenant, clientId: await ensureMachine(tenant) },
    scopes: new Set(scopes),
    requestId: `test-${randomBytes(4).toString('hex')}`,
    ip: '127.0.0.1',
    userAgent: 'vitest',
  })
}

/** The token of a user who has just signed in, with scope `account`. */
export async function ownTokenFor(tenant: string, userId: string, clientId: string): Promise<string> {
  const ctx = createPlatformCtx(tenant)
  const { session } = await ctx.db.transaction((tx) =>
    startBrowserSession(tx, ctx, { userId, proof: { method: 'passcode', amr: ['otp'] } }),
  )
  return issueAccessToken(tenant, {
    subject: userId,
    clientId,
    scopes: ['openid', ACCOUNT_SCOPE],
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
    sessionId: session.id,
  })
}
