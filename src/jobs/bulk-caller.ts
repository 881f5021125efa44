import { findClient } from '../access/client-cache.ts'
import { resolveRoles } from '../access/held-roles.sql.ts'
import type { StoredCaller } from '../bulk/bulk-jobs.ts'
import { type Ctx, createCtx } from '../context/context.ts'
import { getRoleScopes, isScope, type Scope } from '../core/scopes.ts'
import { Handle } from '../database/handle.ts'

/** The scopes that the client or the API key has today; null for one without access. */
async function findAppScopes(
  tenant: string,
  actor: Exclude<StoredCaller['actor'], { kind: 'platform' }>,
): Promise<Scope[] | null> {
  const apiKeyId = actor.kind === 'client' ? undefined : actor.apiKeyId
  if (apiKeyId !== undefined) {
    const where = { tenantId: actor.tenant, id: apiKeyId, expiresAt: { gt: new Date() } }
    const key = await new Handle({ tenant: actor.tenant }).prisma.apiKey.findFirst({ where })
    return key?.scopes.filter(isScope) ?? null
  }
  const clientId = actor.kind === 'key' ? null : actor.clientId
  const client = clientId === null ? null : await findClient(actor.tenant, clientId)
  if (!client || (actor.tenant !== tenant && !client.allTenants)) return null
  return client.scopes.filter(isScope)
}

/** The scopes that the caller has today; null for one that is locked or does not exist. */
async function findPermittedScopes(tenant: string, { actor }: StoredCaller): Promise<Set<Scope> | null> {
  if (actor.kind === 'platform') return new Set()
  const ofApp = await findAppScopes(tenant, actor)
  if (ofApp === null || actor.kind !== 'user') return ofApp && new Set(ofApp)
  const db = new Handle({ tenant: actor.tenant })
  const user = await db.prisma.user.findUnique({
    where: { tenantId_id: { tenantId: actor.tenant, id: actor.userId } },
    select: { locked: true, roles: true },
  })
  if (!user || user.locked) return null
  const ofRoles = getRoleScopes(await resolveRoles(db, user.roles))
  return new Set(ofApp.filter((scope) => ofRoles.has(scope)))
}

/**
 * The context of the caller of a job, with those scopes of the call that the caller still has; null for a caller without
 * access. The end of the session does not end the job.
 */
export async function openCallerCtx(tenant: string, caller: StoredCaller): Promise<Ctx | null> {
  const permitted = await findPermittedScopes(tenant, caller)
  return (
    permitted &&
    createCtx({
      tenant,
      actor: caller.actor,
      scopes: new Set(caller.scopes.filter((scope) => permitted.has(scope))),
      requestId: caller.requestId,
      ip: caller.ip ?? null,
      userAgent: caller.userAgent,
      workload: 'change',
    })
  )
}
