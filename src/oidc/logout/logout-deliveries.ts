import { createPlatformCtx } from '../../context/context.ts'
import { startOutbox } from '../../delivery/outbox/outbox.ts'
import { createEvent } from '../../events/create-event.ts'
import { createEventRow } from '../../events/log.ts'
import { isAccepted, type LogoutAnswer, sendLogoutToken } from './backchannel-logout.ts'
import { LOGOUT_DELIVERIES, type LogoutDelivery } from './logout-deliveries.sql.ts'

/**
 * Delivers queued logout tokens of all tenants. The returned function stops it and resolves when no attempt is running.
 */
export const startLogoutDeliveries = (): (() => Promise<void>) =>
  startOutbox<LogoutDelivery, LogoutAnswer>({
    name: 'logout',
    store: LOGOUT_DELIVERIES,
    send: async ({ url, ...delivery }, signal) =>
      url === null ? null : sendLogoutToken({ ...delivery, url }, signal),
    isAccepted,
    createEvent: ({ tenantId, attempts }, result, answer) =>
      createEventRow(
        createPlatformCtx(tenantId),
        createEvent(`logout.${result}`, null, { attempts, ...answer }),
      ),
  })
