import { createPlatformCtx } from '../../context/context.ts'
import { startOutbox } from '../../delivery/outbox/outbox.ts'
import { createEvent } from '../../events/create-event.ts'
import { createEventRow } from '../../events/log.ts'
import { isAccepted, type LogoutAnswer, sendLogoutToken } from './backchannel-logout.ts'
import { LOGOUT_DELIVERIES, type LogoutDelivery } from './logout-deliveries.sql.ts'

/** The row of the event about an attempt. */
const createLogoutEvent = (
  { tenantId, attempts }: LogoutDelivery,
  result: 'delivered' | 'delayed' | 'failed',
  answer: LogoutAnswer,
): object =>
  createEventRow(createPlatformCtx(tenantId), createEvent(`logout.${result}`, null, { attempts, ...answer }))

/**
 * Delivers queued logout tokens of all tenants. The first failure is recorded, so that the operator of the client learns
 * of it within seconds, not after the last attempt. The returned function stops it and resolves when no attempt is running.
 */
export const startLogoutDeliveries = (): (() => Promise<void>) =>
  startOutbox<LogoutDelivery, LogoutAnswer>({
    name: 'logout',
    store: {
      ...LOGOUT_DELIVERIES,
      finish: (db, message, end) =>
        LOGOUT_DELIVERIES.finish(
          db,
          message,
          end ? [createLogoutEvent(message, end.result, end.answer)] : [],
        ),
      postpone: (db, message, { answer, pauseSeconds, isAborted }) =>
        LOGOUT_DELIVERIES.postpone(
          db,
          message,
          pauseSeconds,
          message.attempts === 1 && !isAborted ? [createLogoutEvent(message, 'delayed', answer)] : [],
        ),
    },
    send: async ({ url, ...delivery }, signal) =>
      url === null ? null : sendLogoutToken({ ...delivery, url }, signal),
    isAccepted,
  })
