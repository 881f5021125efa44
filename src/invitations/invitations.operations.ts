import { Conflict, NotFound, RateLimited } from '../core/errors.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import {
  INVITATION_FILTER,
  InvitationCreate,
  InvitationResend,
  InvitationShape,
} from './invitations.fields.ts'
import { createInvitation, resendInvitation, revokeInvitation } from './invitations.ts'
import {
  findInvitations,
  getInvitation,
  type Invitation,
  listInvitations,
  toInvitationListName,
} from './read-invitations.ts'

const INVITATION = defineResource<Invitation>({
  member: 'invitation',
  ref: defineObjectType<Invitation>(InvitationShape, {
    ...orAdministrator(
      withScope('users:read', 'Invites a person, who accepts by a link in a mail.'),
      ({ organizationId }: Invitation) => organizationId,
    ),
    interfaces: [Node],
  }),
  scope: 'users:read',
  shape: InvitationShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toInvitationListName(tenant), id),
})

registerNode('invitation', {
  ref: INVITATION.ref,
  scope: INVITATION.scope,
  load: (id, { loaders }) => loaders.over(findInvitations).load(id),
})

export const invitationOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createInvitation',
    inOrganization: [
      'email',
      'name',
      'note',
      'locale',
      'clientId',
      'expiresInSeconds',
      'appRoleIds',
      'isAdministrator',
    ],
    summary: 'Invites a person by a mail with a link. Callers can only give scopes that they have.',
    scope: 'users:write',
    isCreation: true,
    input: InvitationCreate,
    errors: [NotFound, RateLimited],
    output: { invitation: INVITATION },
    rest: {
      method: 'POST',
      path: '/invitations',
      status: 201,
      location: ({ id }) => `/invitations/${id}`,
    },
    run: async (ctx, _ids, input) => ({ invitation: await createInvitation(ctx, input) }),
  }),
  ...defineList({
    name: 'listInvitations',
    inOrganization: true,
    summary: 'The invitations of the tenant, oldest first.',
    resource: INVITATION,
    filter: INVITATION_FILTER,
    path: '/invitations',
    run: listInvitations,
  }),
  ...defineLookup({
    name: 'getInvitation',
    inOrganization: true,
    field: 'invitation',
    summary: 'An invitation.',
    resource: INVITATION,
    target: 'invitationId',
    path: '/invitations/:invitationId',
    run: getInvitation,
  }),
  ...defineMutation({
    name: 'resendInvitation',
    inOrganization: ['expiresInSeconds'],
    summary: 'Sends another mail, whose link replaces the former one.',
    scope: 'users:write',
    targets: ['invitationId'],
    input: InvitationResend,
    isInputOptional: true,
    errors: [NotFound, Conflict, RateLimited],
    output: { invitation: INVITATION },
    rest: { method: 'POST', path: '/invitations/:invitationId/resend' },
    run: async (ctx, { invitationId }, input) => ({
      invitation: await resendInvitation(ctx, invitationId, input),
    }),
  }),
  ...defineMutation({
    name: 'revokeInvitation',
    inOrganization: [],
    summary: 'Revokes an invitation: its link no longer works.',
    scope: 'users:write',
    targets: ['invitationId'],
    errors: [NotFound, Conflict],
    output: { revokedInvitationId: idShape.meta({ description: 'Id of the revoked invitation.' }) },
    rest: {
      method: 'DELETE',
      path: '/invitations/:invitationId',
      message: 'The invitation was revoked.',
    },
    run: (ctx, { invitationId }) => revokeInvitation(ctx, invitationId),
  }),
]
