import { isClientIdSyntax } from '../access/client-ids.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { requiredText, text, timeRange } from '../schema/input-shapes.ts'
import { defineFilter, defineOrder, type Given } from '../schema/lists.ts'
import { asId, createIdPattern } from '../schema/response-shapes.ts'
import { ipAddress } from './sessions.fields.ts'

const userId = asId(
  text(200)
    .refine((id) => readIdPrefix(id) === 'user', 'is not an id that starts with user_')
    .meta({ pattern: createIdPattern('user') }),
)
const clientId = asId(
  text(200)
    .refine(isClientIdSyntax, 'is not an id that starts with client_, or a URL')
    .meta({ pattern: `${createIdPattern('client')}|^https?://[\\x21-\\x7e]+$` }),
)

/** Which sessions a list is about. */
export const SESSION_FILTER = defineFilter(
  {
    userId: { shape: userId, description: 'Sessions of this user.' },
    clientId: { shape: clientId, description: 'Started through this client.' },
    organizationId: {
      shape: asId(requiredText(200)),
      column: null,
      scope: 'organizations:read',
      description: 'Sessions of its members that received tokens for this organization.',
      example: 'organization_01k7r3m8wxe4gbr5v2c9t6hznq',
    },
    ip: {
      shape: ipAddress,
      column: '"lastSeenIp"',
      description: 'Last used from this IP address, in any notation.',
      example: '203.0.113.7',
    },
    createdAt: { shape: timeRange, description: 'Started in this time.' },
    lastSeenAt: { shape: timeRange, description: 'Last used in this time.' },
  },
  'Only sessions that match all members. userId combines with everything; other members cannot be combined.',
)

/** A valid filter with the given members only. */
export type SessionFilter = Given<typeof SESSION_FILTER.members>
export type SessionFilterMember = keyof SessionFilter

/** What sessions can be ordered by, besides the id, whose order is that of their start. */
export const SESSION_ORDER = defineOrder(
  'Session',
  { createdAt: 'When they started.', lastSeenAt: 'When they were last used.' },
  {
    description: 'How sessions are ordered.',
    fields: 'Fields by which sessions can be ordered.',
    field: 'The field of the order. Default: for a range of the filter its field, otherwise the id.',
  },
)
export type SessionOrderField = (typeof SESSION_ORDER.by.fields)[number]
/** The order of a list: by a field, or by id. */
export type SessionListOrder = SessionOrderField | 'id'
