import * as z from 'zod'
import { event } from './declare-event.ts'
import { LINK_FAILURES } from './reasons.ts'

/** Types of events about identity providers, and the identities that users have there. */
export const PROVIDER_EVENTS = {
  'idp.created': event('An identity provider was created.', ['idpId', 'organizationId?']),
  'idp.updated': event('An identity provider changed.', ['idpId', 'organizationId?']),
  'idp.tested': event(
    'A caller tested the configuration. `succeeded` if no check failed.',
    ['idpId', 'organizationId?'],
    z.strictObject({ succeeded: z.boolean() }),
  ),
  'idp.deleted': event(
    'An identity provider was deleted, with so many links of users.',
    ['idpId', 'organizationId?'],
    z.strictObject({ links: z.int() }),
  ),
  'idpuser.added': event('An API call added a link of a user.', ['userId', 'linkId', 'idpId']),
  'idpuser.linked': event('A sign-in at the identity provider created a link.', [
    'userId',
    'linkId',
    'idpId',
  ]),
  'idpuser.link_failed': event(
    'A proven identity was not linked: the user has another one of the provider (`linked`), another user has it (`taken`), the user or the provider was deleted, or the provider was changed.',
    ['userId', 'idpId'],
    z.strictObject({ reason: z.enum(LINK_FAILURES) }),
  ),
  'idpuser.updated': event('A link changed.', ['userId', 'linkId', 'idpId']),
  'idpuser.unlinked': event('A link was removed.', ['userId', 'linkId', 'idpId']),
  'idpuser.tokens_read': event('The actor read the access token of the provider.', [
    'userId',
    'linkId',
    'idpId',
  ]),
  'idpuser.tokens_deleted': event(
    'The provider does not accept the refresh token any more.',
    ['userId', 'linkId', 'idpId'],
    z.strictObject({ reason: z.literal('refused') }),
  ),
} as const
