import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { type FieldIssue, InvalidInput } from '../core/errors.ts'
import { issuerOf } from '../core/issuer.ts'
import { isJsonObject } from '../core/json/json-object.ts'
import { createFetchedUrl } from '../schema/fetched-url.fields.ts'
import { requiredText, text } from '../schema/input-shapes.ts'
import {
  DELIVERY_METHODS,
  type Delivery,
  listDelivered,
  STREAM_STATUSES,
  SUPPORTED_SIGNALS,
} from './signal-types.ts'

/** Seconds between verifications that a receiver may ask for. */
export const MIN_VERIFICATION_SECONDS = 10

const url = createFetchedUrl({ secure: true })
const METHODS = Object.values(DELIVERY_METHODS)

/** The method of delivery (SSF 1.0, section 6.1). The URL of polls is the transmitter's, and ignored. */
const delivery = z.object(
  {
    method: z.enum(METHODS, `must be one of: ${METHODS.join(', ')}`),
    endpoint_url: z.unknown(),
    authorization_header: z
      .string('must be a string')
      .max(2000, 'must have at most 2000 characters')
      .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII')
      .nullish(),
  },
  'must be an object',
)

const pushed = z.object({ endpoint_url: url })

const members = {
  delivery: delivery
    .superRefine(
      ({ method, endpoint_url }, context) => {
        if (method !== DELIVERY_METHODS.push) return
        for (const { message, path } of pushed.safeParse({ endpoint_url }).error?.issues ?? [])
          context.addIssue({ code: 'custom', path, message })
      },
      { when: ({ value }) => isJsonObject(value) },
    )
    .nullish(),
  events_requested: z
    .array(requiredText(300), 'must be an array')
    .max(100, 'must have at most 100 entries')
    .transform((uris) => [...new Set(uris)])
    .nullish(),
  description: text(500).nullish(),
}

/** What a receiver sends (SSF 1.0, section 8.1.1). Unknown members are ignored. */
export const StreamBody = z.object(members, 'must be an object')

export const StatusBody = z.object(
  {
    status: z.enum(STREAM_STATUSES, `must be one of: ${STREAM_STATUSES.join(', ')}`),
    reason: text(500).nullish(),
  },
  'must be an object',
)

export const VerificationBody = z.object({ state: text(500).nullish() }, 'must be an object')

const ids = z
  .array(z.string('must be a string'), 'must be an array')
  .max(1000, 'must have at most 1000 entries')

/** The parameters of a poll (RFC 8936, section 2.2). */
export const PollBody = z.object(
  {
    maxEvents: z.int('must be an integer').min(0, 'must not be negative').nullish(),
    returnImmediately: z.boolean('must be true or false').nullish(),
    ack: ids.nullish(),
    setErrs: z
      .record(
        z.string(),
        z.object({ err: z.unknown(), description: z.unknown() }, 'must be an object'),
        'must be an object',
      )
      .refine((errors) => Object.keys(errors).length <= 1000, 'must have at most 1000 members')
      .nullish(),
  },
  'must be an object',
)

/** A stream as its receiver knows it. */
export type StreamView = {
  id: string
  clientId: string
  delivery: string
  url: string | null
  description: string | null
  eventsRequested: string[]
}

const toPollUrl = (tenant: string, id: string): string => `${issuerOf(tenant)}/ssf/streams/${id}/poll`

/** The configuration of a stream (SSF 1.0, section 8.1.1), without the header Authorization, which is secret. */
export function toConfiguration(tenant: string, stream: StreamView) {
  const { id, clientId, description, eventsRequested } = stream
  return {
    stream_id: id,
    iss: issuerOf(tenant),
    aud: clientId,
    events_supported: [...SUPPORTED_SIGNALS],
    ...(eventsRequested.length > 0 && { events_requested: eventsRequested }),
    events_delivered: listDelivered(eventsRequested),
    delivery: {
      method: DELIVERY_METHODS[stream.delivery as Delivery],
      endpoint_url: stream.url ?? toPollUrl(tenant, id),
    },
    min_verification_interval: MIN_VERIFICATION_SECONDS,
    ...(description !== null && { description }),
  }
}

const OF_TRANSMITTER = [
  'iss',
  'aud',
  'events_supported',
  'events_delivered',
  'min_verification_interval',
] as const

/** Rejects members of the transmitter that a receiver sends with other values (SSF 1.0, section 8.1.1.3). Throws InvalidInput. */
export function requireUnchanged(body: unknown, current: ReturnType<typeof toConfiguration>): void {
  if (!isJsonObject(body)) return
  const issues: FieldIssue[] = OF_TRANSMITTER.filter(
    (name) => body[name] !== undefined && !isDeepStrictEqual(body[name], current[name]),
  ).map((field) => ({ field, description: 'is set by the transmitter' }))
  if (issues.length > 0) throw new InvalidInput(issues)
}

/** The public metadata of the transmitter (SSF 1.0, section 7.1). */
export const buildTransmitterMetadata = (tenant: string) => {
  const issuer = issuerOf(tenant)
  return {
    spec_version: '1_0',
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    delivery_methods_supported: METHODS,
    configuration_endpoint: `${issuer}/ssf/streams`,
    status_endpoint: `${issuer}/ssf/status`,
    add_subject_endpoint: `${issuer}/ssf/subjects/add`,
    remove_subject_endpoint: `${issuer}/ssf/subjects/remove`,
    verification_endpoint: `${issuer}/ssf/verify`,
    authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
    default_subjects: 'ALL',
  }
}
