import { findClient } from '../access/client-cache.ts'
import type { StoredCaller } from '../bulk/bulk-jobs.ts'
import { type Ctx, createCtx } from '../context/context.ts'
import { getRoleScopes, isScope, type Scope } from '../core/scopes.ts'
import { Handle } from '../database/handle.ts'

/** The scopes that the caller has today; null for one that is locked or does not exist. */
async function findPermittedScopes(tenant: string, { actor }: StoredCaller): Promise<Set<Scope> | null> {
  if (actor.kind === 'platform') return new Set()
  const client = actor.clientId === null ? null : await findClient(actor.tenant, actor.clientId)
  if (!client || (actor.tenant !== tenant && !client.allTenants)) return null
  const ofClient = client.scopes.filter(isScope)
  if (actor.kind === 'client') return new Set(ofClient)
  const user = await new Handle({ tenant: actor.tenant }).prisma.user.findUnique({
    where: { tenantId_id: { tenantId: actor.tenant, id: actor.userId } },
    select: { locked: true, roles: true },
  })
  if (!user || user.locked) return null
  const ofRoles = getRoleScopes(user.roles)
  return new Set(ofClient.filter((scope) => ofRoles.has(scope)))
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
