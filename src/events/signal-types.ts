import * as z from 'zod'
import { event } from './declare-event.ts'

const stream = ['signalStreamId', 'clientId'] as const

/** Types of events about shared signals (OpenID SSF 1.0): streams to clients, and signals of identity providers. */
export const SIGNAL_EVENTS = {
  'signal_stream.created': event('A client created a stream of shared signals.', stream),
  'signal_stream.updated': event(
    'A stream of shared signals changed. `status` is set if that changed.',
    stream,
    z.strictObject({ status: z.enum(['enabled', 'paused', 'disabled']) }).nullable(),
  ),
  'signal_stream.subject_changed': event(
    'A stream leaves a user out, or has the user again.',
    [...stream, 'userId'],
    z.strictObject({ included: z.boolean() }),
  ),
  'signal_stream.verified': event('A verification event was sent to a stream.', stream),
  'signal_stream.failing': event(
    'The receiver of a stream does not answer, or with a server error; `fault` is the error of an attempt without an HTTP status.',
    stream,
    z.strictObject({ status: z.int().nullable(), fault: z.string().nullable() }),
  ),
  'signal_stream.recovered': event('The receiver of a stream answers again.', stream),
  'signal_stream.disabled': event(
    'A stream was disabled, because its receiver has failed for three days.',
    stream,
  ),
  'signal_stream.deleted': event('A stream was deleted, with the events that waited.', stream),
  'idp.signals_secret_rotated': event(
    'The secret with which an identity provider sends shared signals was replaced.',
    ['idpId', 'organizationId?'],
  ),
  'idp.signal_received': event(
    'An identity provider sent a signal, by which so many `sessions` ended. `type` is the end of the URI of its event.',
    ['idpId', 'userId?'],
    z.strictObject({ type: z.string(), sessions: z.int() }),
  ),
  'idpuser.disabled': event(
    'The identity provider disabled the account there: it signs nobody in until it is enabled.',
    ['userId', 'linkId', 'idpId'],
  ),
  'idpuser.enabled': event('The identity provider enabled the account there again.', [
    'userId',
    'linkId',
    'idpId',
  ]),
} as const
