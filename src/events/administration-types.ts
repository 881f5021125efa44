import * as z from 'zod'
import { channel, event } from './declare-event.ts'

/** Types of events about jobs, tenants and keys. */
export const ADMINISTRATION_EVENTS = {
  'bulk_job.started': event(
    'A change of so many users was started. Each change has events of its own, with the request id of this one.',
    ['bulkJobId', 'clientId?'],
    z.strictObject({ action: z.string(), roles: z.string().optional(), users: z.int() }),
    'BulkJobEvent',
  ),
  'bulk_job.progressed': event(
    'Of a change of many users, so many are `done`, and so many have `failed`: after the first one, and each second from then on.',
    ['bulkJobId'],
    z.strictObject({ done: z.int(), failed: z.int() }),
    'BulkJobEvent',
  ),
  'bulk_job.finished': event(
    'A change of many users ended: it was `completed`, `canceled`, or `stopped` because the caller may not do this any more.',
    ['bulkJobId'],
    z.strictObject({
      status: z.enum(['completed', 'canceled', 'stopped']),
      done: z.int(),
      failed: z.int(),
    }),
    'BulkJobEvent',
  ),
  'tenant.created': event('A tenant was created.', ['tenantId']),
  'tenant.updated': event('Settings of the tenant of the log changed.', []),
  'tenant.delivery_failing': event(
    'The mail server (email) or the gateway for text messages (sms) of the tenant does not accept messages.',
    [],
    z.strictObject({ channel }),
  ),
  'tenant.delivery_recovered': event(
    'The mail server (email) or the gateway for text messages (sms) of the tenant accepts messages again.',
    [],
    z.strictObject({ channel }),
  ),
  'tenant.deleted': event('A tenant was deleted.', ['tenantId']),
  'key.rotated': event(
    'A signing key was created, which signs from `activeAt` on.',
    ['keyId'],
    z.strictObject({ kid: z.string(), alg: z.string(), activeAt: z.iso.datetime() }),
  ),
} as const
