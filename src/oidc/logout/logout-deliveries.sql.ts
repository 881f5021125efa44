import { typed } from '../../database/statement.ts'
import { declareOutbox } from '../../delivery/outbox/outbox.sql.ts'
import { buildInsertEventsSql } from '../../events/log.sql.ts'
import type { SigningAlgorithm } from '../../keys/signing-algorithms.ts'

/** The logout tokens to send. The statements that end sessions insert them. */
export const LOGOUT_DELIVERIES = declareOutbox({
  name: 'LogoutDelivery',
  recipient: 'clientId',
  payload: {
    columns: `d."userId", d."sessionId", r."backchannelLogoutUrl" AS "url", r."idTokenSigningAlg" AS "alg"`,
    returns: {
      userId: 'text',
      sessionId: 'text',
      /** Null when the client has no backchannelLogoutUrl any more. */
      url: 'text?',
      alg: typed<SigningAlgorithm | null>('text?'),
    },
  },
  source: { table: '"Client"', condition: 'r."tenantId" = d."tenantId" AND r."id" = d."clientId"' },
  buildEventsSql: (events, from) =>
    buildInsertEventsSql(events, {
      from,
      columns: {
        userId: `${from}."userId"`,
        sessionId: `${from}."sessionId"`,
        subjectIds: `ARRAY[${from}."clientId"]`,
      },
    }),
})

/** A logout token to send, with its recipient. */
export type LogoutDelivery = Awaited<ReturnType<typeof LOGOUT_DELIVERIES.claim>>['messages'][number]
