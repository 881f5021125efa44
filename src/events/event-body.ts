import type * as z from 'zod'
import type { Ctx } from '../context/context.ts'
import type { EventShape } from './list.fields.ts'
import { getSubjectIds } from './list.ts'
import type { LogEvent } from './log.ts'

/** The JSON body of an event, in REST and in messages of webhooks. */
export function toEventBody({ scopes }: Pick<Ctx, 'scopes'>, event: LogEvent): z.input<typeof EventShape> {
  const { actorUserId, actorClientId, actorApiKeyId, actorTenantId } = event
  const ip = scopes.has('events:read') ? event.ip : null
  const actor = {
    userId: actorUserId,
    clientId: actorClientId,
    apiKeyId: actorApiKeyId,
    tenantId: actorTenantId,
    ip,
  }
  return {
    id: event.id,
    position: event.position,
    type: event.type,
    occurredAt: event.occurredAt.toISOString(),
    actor: actorUserId || actorClientId || actorApiKeyId || event.ip ? actor : null,
    requestId: event.requestId,
    deviceId: event.deviceId,
    userId: event.userId,
    sessionId: event.sessionId,
    organizationId: event.organizationId,
    subjectIds: getSubjectIds(event),
    changedFields: event.changedFields,
    detail: event.detail,
  }
}
