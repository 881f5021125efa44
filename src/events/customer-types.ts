import * as z from 'zod'
import { JOIN_WAYS } from '../model/join-ways.ts'
import { event, NONE } from './declare-event.ts'

/** Types of events about API keys, APIs, roles at them, and groups. */
export const PERMISSION_EVENTS = {
  'api_key.created': event(
    'An API key was created, of a user if there is one, with `scopes`, `resources` and `allowed_networks`, each separated by spaces.',
    ['userId?', 'organizationId?', 'apiKeyId'],
    z.strictObject({ scopes: z.string(), resources: z.string(), allowed_networks: z.string() }),
  ),
  'api_key.updated': event('An API key changed.', ['userId?', 'organizationId?', 'apiKeyId']),
  'api_key.rotated': event(
    'An API key was replaced. The former one is accepted until `previous_expires_at`; null if it no longer is.',
    ['userId?', 'organizationId?', 'apiKeyId'],
    z.strictObject({ previous_expires_at: z.iso.datetime().nullable() }),
  ),
  'api_key.revoked': event('An API key was revoked.', ['userId?', 'organizationId?', 'apiKeyId']),
  'registration_token.created': event('A registration token was created.', ['registrationTokenId']),
  'registration_token.revoked': event('A registration token was revoked.', ['registrationTokenId']),
  'api.created': event('An API was created.', ['apiId']),
  'api.updated': event(
    'An API changed. So many permissions were `added` and `removed`, and so many `roles` lost one; a subject for each of the first hundred.',
    ['apiId', 'appRoleIds?'],
    z.strictObject({ added: z.int(), removed: z.int(), roles: z.int() }),
  ),
  'api.deleted': event(
    'An API was deleted, with its permissions, which so many `roles` lost; a subject for each of the first hundred.',
    ['apiId', 'appRoleIds?'],
    z.strictObject({ roles: z.int() }),
  ),
  'app_role.created': event('A role was created.', ['appRoleId', 'organizationId?']),
  'app_role.updated': event(
    'A role changed. So many permissions were `added` and `removed`.',
    ['appRoleId', 'organizationId?'],
    z.strictObject({ added: z.int(), removed: z.int() }),
  ),
  'app_role.deleted': event(
    'A role was deleted, and taken from so many `users`, `clients`, `memberships` and `groups` who held it directly; a subject for each of the first hundred users.',
    ['appRoleId', 'organizationId?', 'userIds?'],
    z.strictObject({ users: z.int(), clients: z.int(), memberships: z.int(), groups: z.int() }),
  ),
  'user.app_roles_changed': event(
    'The roles at APIs that a user holds directly changed. `added` and `removed` have their names, separated by spaces.',
    ['userId', 'appRoleIds?'],
    z.strictObject({ added: z.string(), removed: z.string() }),
  ),
  'membership.app_roles_changed': event(
    'The roles at APIs that a member holds in the organization changed, by a sign-in at the identity provider if there is one. `added` and `removed` have their names, separated by spaces.',
    ['userId', 'organizationId', 'membershipId', 'idpId?', 'appRoleIds?'],
    z.strictObject({ added: z.string(), removed: z.string() }),
  ),
  'membership.role_claim_ignored': event(
    'Values of the claim that gives a member roles were `ignored`: so many that are not text, too long, or too many.',
    ['userId', 'organizationId', 'membershipId', 'idpId'],
    z.strictObject({ ignored: z.string() }),
  ),
  'group.created': event('A group was created.', ['groupId', 'organizationId?']),
  'group.updated': event('A group changed.', ['groupId', 'organizationId?']),
  'group.deleted': event('A group was deleted, and its members lost its roles.', [
    'groupId',
    'organizationId?',
  ]),
  'group.app_roles_changed': event(
    'The roles at APIs that a group gives changed. `added` and `removed` have their names, separated by spaces.',
    ['groupId', 'organizationId?', 'appRoleIds?'],
    z.strictObject({ added: z.string(), removed: z.string() }),
  ),
  'group.members_added': event(
    'So many `users` were added to a group; a subject for each of the first hundred.',
    ['groupId', 'organizationId?', 'userIds?'],
    z.strictObject({ users: z.int() }),
  ),
  'group.members_removed': event(
    'So many `users` were removed from a group; a subject for each of the first hundred.',
    ['groupId', 'organizationId?', 'userIds?'],
    z.strictObject({ users: z.int() }),
  ),
  'client.app_roles_changed': event(
    'The roles at APIs that a machine client holds changed. `added` and `removed` have their names, separated by spaces.',
    ['clientId', 'appRoleIds?'],
    z.strictObject({ added: z.string(), removed: z.string() }),
  ),
} as const

const domainEvent = <const Detail extends z.ZodRawShape>(description: string, detail = {} as Detail) =>
  event(
    description,
    ['organizationId', 'organizationDomainId'],
    z.strictObject({ domain: z.string(), ...detail }),
    'OrganizationEvent',
  )

/** Types of events about organizations, their domains and their members. */
export const ORGANIZATION_EVENTS = {
  'organization.created': event(
    'An organization was created.',
    ['organizationId'],
    NONE,
    'OrganizationEvent',
  ),
  'organization.updated': event('An organization changed.', ['organizationId'], NONE, 'OrganizationEvent'),
  'organization.deleted': event(
    'An organization was deleted, with so many memberships.',
    ['organizationId'],
    z.strictObject({ members: z.int() }),
    'OrganizationEvent',
  ),
  'organization.setup_created': event(
    'A link for the set-up of the organization was created. It ended the former one.',
    ['organizationId'],
    NONE,
    'OrganizationEvent',
  ),
  'organization.setup_opened': event(
    'The link was opened. The events of the set-up have the client `organization-setup` as their actor.',
    ['organizationId'],
    NONE,
    'OrganizationEvent',
  ),
  'organization.setup_revoked': event(
    'The link, or the visit that it opened, was ended.',
    ['organizationId'],
    NONE,
    'OrganizationEvent',
  ),
  'membership.created': event(
    'A user became a member of an organization.',
    ['userId', 'organizationId', 'membershipId'],
    z.strictObject({ joinedVia: z.enum(JOIN_WAYS), isAdministrator: z.literal(true).optional() }),
    'MembershipEvent',
  ),
  'membership.updated': event(
    'A member became an administrator of the organization, or stopped being one.',
    ['userId', 'organizationId', 'membershipId'],
    z.strictObject({ isAdministrator: z.boolean() }),
    'MembershipEvent',
  ),
  'membership.deleted': event(
    'A membership in an organization ended.',
    ['userId', 'organizationId', 'membershipId'],
    NONE,
    'MembershipEvent',
  ),
  'organization_domain.created': domainEvent('A domain was added to an organization.'),
  'organization_domain.updated': domainEvent('The enrollment of a domain of an organization changed.'),
  'organization_domain.deleted': domainEvent('A domain of an organization was deleted.'),
  'organization_domain.verified': domainEvent('The TXT record proved a domain of an organization.'),
  'organization_domain.expiring': domainEvent(
    'The TXT record of a proven domain was not found. The domain stays proven until `expires_at`, unless the record is found before.',
    { expires_at: z.string() },
  ),
  'organization_domain.expired': domainEvent(
    'A domain is not proven any more: its TXT record was not found again in time.',
  ),
} as const

const webhook = ['webhookId', 'organizationId?'] as const
/** Types of events about webhooks. */
export const WEBHOOK_EVENTS = {
  'webhook.created': event('A webhook was created.', webhook),
  'webhook.updated': event('A webhook changed.', webhook),
  'webhook.deleted': event('A webhook was deleted, with its messages.', webhook),
  'webhook.secret_rotated': event(
    'The secret of a webhook was replaced. Messages are signed with the former one too until `previous_expires_at`; null if they no longer are.',
    webhook,
    z.strictObject({ previous_expires_at: z.iso.datetime().nullable() }),
  ),
  'webhook.replayed': event('A webhook continues after an earlier or later position of the log.', webhook),
  'webhook.tested': event('A message for a test was sent to a webhook.', webhook),
  'webhook.redelivered': event('A message of a webhook was sent again.', [
    'webhookId',
    'organizationId?',
    'webhookDeliveryId',
  ]),
  'webhook.failed_redelivered': event(
    'Messages that were given up were sent again, so many of a webhook.',
    webhook,
    z.strictObject({ messages: z.int() }),
  ),
  'webhook.failing': event(
    'The receiver of a webhook does not answer, or with a server error; `fault` is the error of an attempt without an HTTP status.',
    webhook,
    z.strictObject({ status: z.int().nullable(), fault: z.string().nullable() }),
  ),
  'webhook.recovered': event('The receiver of a webhook answers again.', webhook),
  'webhook.disabled': event(
    'A webhook was disabled, because its receiver has failed for three days.',
    webhook,
  ),
} as const
